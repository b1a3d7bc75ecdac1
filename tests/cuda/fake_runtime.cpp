// The fake GPU.
#include "fake_runtime.hpp"

#include "fake_filter.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "cuda/job.hpp"
#include "finish.hpp"

namespace quietframe::cuda {
namespace {

constexpr int invalid_value = 1, out_of_memory = 2, invalid_device = 101, already_registered = 712;

// Node n of a capture, as a handle that is not null.
cudaGraphNode_t node_handle(std::size_t n) { return reinterpret_cast<cudaGraphNode_t>(n + 1); }
std::size_t node_number(cudaGraphNode_t node) { return reinterpret_cast<std::size_t>(node) - 1; }

}  // namespace

FakeRuntime::FakeRuntime() = default;

FakeRuntime::~FakeRuntime() {
  while (!streams_.empty()) stream_destroy(streams_.begin()->first);
  for (const auto& [p, bytes] : device_memory_) std::free(const_cast<std::byte*>(p));
  for (const auto& [p, bytes] : pinned_memory_) std::free(const_cast<std::byte*>(p));
}

std::size_t FakeRuntime::live() const {
  const std::lock_guard lock(mutex_);
  return streams_.size() + events_.size() + graphs_.size() + execs_.size() + device_memory_.size() +
         pinned_memory_.size() + registered_.size();
}

bool FakeRuntime::fails() {
  if (++calls != fail_call) return false;
  const std::lock_guard lock(mutex_);
  last_error_ = fail_code;
  return true;
}

int FakeRuntime::misuse() { return ++misuses, invalid_value; }

template <class T, class H>
T* FakeRuntime::find(std::map<H, std::unique_ptr<T>>& table, H handle) {
  const auto it = table.find(handle);
  return it == table.end() ? nullptr : it->second.get();
}

int FakeRuntime::device_count(int* n) { return *n = devices, 0; }

int FakeRuntime::device(int id, Device* d) {
  *d = {id, "Fake GPU", 1, 9, 0, device_bytes};
  return 0;
}

int FakeRuntime::primary_context(int device, CUcontext* context) {
  if (fails()) return fail_code;
  if (device < 0 || device >= devices) return invalid_device;
  *context = reinterpret_cast<CUcontext>(std::uintptr_t{0x1000} + static_cast<std::uintptr_t>(device));
  return 0;
}

int FakeRuntime::context_push(CUcontext context) {
  if (fails()) return fail_code;
  if (!context) return misuse();
  ++pushed;
  current = context;
  return 0;
}

int FakeRuntime::context_pop() { return --pushed < 0 ? misuse() : 0; }

int FakeRuntime::memory_free(std::size_t* bytes) {
  const std::lock_guard lock(mutex_);
  return *bytes = device_bytes - device_used_, 0;
}

int FakeRuntime::take_last_error() {
  const std::lock_guard lock(mutex_);
  return std::exchange(last_error_, 0);
}

int FakeRuntime::device_alloc(void** p, std::size_t bytes) {
  if (fails()) return fail_code;
  const std::lock_guard lock(mutex_);
  if (device_used_ + bytes > device_bytes) return last_error_ = out_of_memory;
  auto* memory = static_cast<std::byte*>(std::aligned_alloc(256, (bytes + 255) / 256 * 256));
  std::memset(memory, 0xcd, bytes);
  device_memory_[memory] = bytes;
  device_used_ += bytes;
  *p = memory;
  return 0;
}

int FakeRuntime::device_clear(void* p, std::size_t bytes) {
  if (fails()) return fail_code;
  std::memset(p, 0, bytes);
  return 0;
}

int FakeRuntime::device_upload(void* to, const void* from, std::size_t bytes) {
  if (fails()) return fail_code;
  const std::lock_guard lock(mutex_);
  if (!on_device(static_cast<const std::byte*>(to), bytes)) return misuse();
  std::memcpy(to, from, bytes);
  return 0;
}

int FakeRuntime::device_free(void* p) {
  {
    std::unique_lock lock(mutex_);  // as cudaFree does: waits for the whole device
    changed_.wait(lock, [&] {
      return std::ranges::all_of(streams_,
                                 [](auto& s) { return s.second->queue.empty() && !s.second->busy; });
    });
    const auto it = device_memory_.find(static_cast<std::byte*>(p));
    if (it == device_memory_.end()) return misuse();
    device_used_ -= it->second;
    device_memory_.erase(it);
  }
  std::free(p);
  return 0;
}

int FakeRuntime::host_alloc(void** p, std::size_t bytes) {
  if (fails()) return fail_code;
  const std::lock_guard lock(mutex_);
  if (pinned_runs_out) return last_error_ = out_of_memory;
  auto* memory = static_cast<std::byte*>(std::aligned_alloc(64, (bytes + 63) / 64 * 64));
  pinned_memory_[memory] = bytes;
  *p = memory;
  return 0;
}

int FakeRuntime::host_free(void* p) {
  {
    const std::lock_guard lock(mutex_);
    if (pinned_memory_.erase(static_cast<std::byte*>(p)) == 0) return misuse();
  }
  std::free(p);
  return 0;
}

int FakeRuntime::host_register(void* p, std::size_t bytes) {
  if (fails()) return fail_code;
  const std::lock_guard lock(mutex_);
  const auto* begin = static_cast<const std::byte*>(p);
  const auto overlaps = [&](const auto& block) {
    return begin < block.first + block.second && block.first < begin + bytes;
  };
  if (std::ranges::any_of(registered_, overlaps)) return last_error_ = already_registered;
  registered_[begin] = bytes;
  return 0;
}

int FakeRuntime::host_unregister(void* p) {
  const std::lock_guard lock(mutex_);
  return registered_.erase(static_cast<const std::byte*>(p)) == 1 ? 0 : misuse();
}

int FakeRuntime::stream_create(cudaStream_t* s) {
  if (fails()) return fail_code;
  auto stream = std::make_unique<FakeStream>();
  auto* raw = stream.get();
  *s = reinterpret_cast<cudaStream_t>(raw);
  const std::lock_guard lock(mutex_);
  streams_[*s] = std::move(stream);
  raw->thread = std::thread([this, raw] { run_stream(*raw); });
  return 0;
}

int FakeRuntime::stream_destroy(cudaStream_t s) {
  std::unique_ptr<FakeStream> stream;
  {
    std::unique_lock lock(mutex_);
    auto* found = find(streams_, s);
    if (!found) return misuse();
    changed_.wait(lock, [&] { return found->queue.empty() && !found->busy; });
    found->stop = true;
    found->wake.notify_all();
    stream = std::move(streams_[s]);
    streams_.erase(s);
  }
  stream->thread.join();
  return 0;
}

void FakeRuntime::run_stream(FakeStream& s) {
  std::unique_lock lock(mutex_);
  for (;;) {
    s.wake.wait(lock, [&] { return s.stop || !s.queue.empty(); });
    if (s.queue.empty()) return;
    const Op op = std::move(s.queue.front());
    s.queue.pop_front();
    s.busy = true;
    most_running_ = std::max(most_running_, ++running_);
    lock.unlock();
    perform(op);
    lock.lock();
    --running_;
    s.busy = false;
    changed_.notify_all();
  }
}

void FakeRuntime::perform(const Op& op) {
  if (op.kind == OpKind::copy) {
    perform_copy(op.copy);
  } else if (op.kind == OpKind::work) {
    op.work();
  } else if (op.kind == OpKind::wait) {
    std::unique_lock lock(mutex_);
    auto* e = find(events_, op.event);
    changed_.wait(lock, [&] { return !e || e->reached >= op.ticket; });
  } else {
    const std::lock_guard lock(mutex_);
    if (auto* e = find(events_, op.event)) {
      e->reached = std::max(e->reached, op.ticket);
      e->when = std::chrono::steady_clock::now();
    }
    changed_.notify_all();
  }
}

bool FakeRuntime::on_device(const std::byte* p, std::size_t bytes) const {
  auto it = device_memory_.upper_bound(p);
  if (it == device_memory_.begin()) return false;
  --it;
  return p >= it->first && p + bytes <= it->first + it->second;
}

void FakeRuntime::perform_copy(const Copy& c) {
  std::this_thread::sleep_for(copy_takes);
  const auto span = [&](std::size_t pitch) { return (c.rows - 1) * pitch + c.row_bytes; };
  {
    const std::lock_guard lock(mutex_);
    const bool to = on_device(c.to, span(c.to_pitch)), from = on_device(c.from, span(c.from_pitch));
    if (to != (c.kind != CopyKind::download) || from != (c.kind != CopyKind::upload)) {
      ++misuses;
      return;
    }
  }
  for (std::size_t y = 0; y < c.rows; ++y)
    std::memcpy(c.to + y * c.to_pitch, c.from + y * c.from_pitch, c.row_bytes);
}

void FakeRuntime::push(FakeStream& s, Op op) {
  if (s.capturing) {
    s.captured.push_back(std::move(op));
  } else {
    if (op.kind == OpKind::record) op.ticket = ++events_[op.event]->recorded;
    if (op.kind == OpKind::wait) op.ticket = events_[op.event]->recorded;
    s.queue.push_back(std::move(op));
    s.wake.notify_all();
  }
}

void FakeRuntime::enqueue(cudaStream_t s, std::function<void()> work) {
  const std::lock_guard lock(mutex_);
  auto* stream = find(streams_, s);
  if (!stream) return void(misuse());
  push(*stream, {OpKind::work, std::move(work), {}, nullptr, 0});
}

int FakeRuntime::stream_synchronize(cudaStream_t s) {
  if (fails()) return fail_code;
  std::unique_lock lock(mutex_);
  auto* stream = find(streams_, s);
  if (!stream || stream->capturing) return misuse();
  changed_.wait(lock, [&] { return stream->queue.empty() && !stream->busy; });
  return 0;
}

int FakeRuntime::stream_wait(cudaStream_t s, cudaEvent_t e) {
  if (fails()) return fail_code;
  const std::lock_guard lock(mutex_);
  auto* stream = find(streams_, s);
  auto* event = find(events_, e);
  if (!stream || !event) return misuse();
  const auto ticket = event->recorded;
  push(*stream, {OpKind::work,
                 [this, event, ticket] {
                   std::unique_lock inner(mutex_);
                   changed_.wait(inner, [&] { return event->reached >= ticket; });
                 },
                 {},
                 nullptr,
                 0});
  return 0;
}

int FakeRuntime::event_create(cudaEvent_t* e, EventKind kind) {
  if (fails()) return fail_code;
  auto event = std::make_unique<FakeEvent>();
  event->kind = kind;
  *e = reinterpret_cast<cudaEvent_t>(event.get());
  const std::lock_guard lock(mutex_);
  events_[*e] = std::move(event);
  return 0;
}

int FakeRuntime::event_destroy(cudaEvent_t e) {
  const std::lock_guard lock(mutex_);
  return events_.erase(e) == 1 ? 0 : misuse();
}

int FakeRuntime::event_record(cudaEvent_t e, cudaStream_t s) {
  if (fails()) return fail_code;
  const std::lock_guard lock(mutex_);
  auto* stream = find(streams_, s);
  if (!stream || !find(events_, e)) return misuse();
  push(*stream, {OpKind::record, {}, {}, e, 0});
  return 0;
}

int FakeRuntime::event_record_node(cudaEvent_t e, cudaStream_t s, cudaGraphNode_t* node) {
  if (const int code = event_record(e, s)) return code;
  const std::lock_guard lock(mutex_);
  if (!streams_[s]->capturing) return misuse();
  *node = node_handle(streams_[s]->captured.size() - 1);
  return 0;
}

int FakeRuntime::event_wait_node(cudaEvent_t e, cudaStream_t s) {
  if (fails()) return fail_code;
  const std::lock_guard lock(mutex_);
  auto* stream = find(streams_, s);
  if (!stream || !stream->capturing || !find(events_, e)) return misuse();
  push(*stream, {OpKind::wait, {}, {}, e, 0});
  return 0;
}

int FakeRuntime::event_query(cudaEvent_t e, bool* done) {
  if (fails()) return fail_code;
  const std::lock_guard lock(mutex_);
  auto* event = find(events_, e);
  if (!event) return misuse();
  *done = event->reached >= event->recorded;
  return 0;
}

int FakeRuntime::event_synchronize(cudaEvent_t e) {
  if (fails()) return fail_code;
  std::unique_lock lock(mutex_);
  auto* event = find(events_, e);
  if (!event) return misuse();
  const auto ticket = event->recorded;
  changed_.wait(lock, [&] { return event->reached >= ticket; });
  return 0;
}

int FakeRuntime::event_elapsed(float* ms, cudaEvent_t from, cudaEvent_t to) {
  if (fails()) return fail_code;
  const std::lock_guard lock(mutex_);
  auto *a = find(events_, from), *b = find(events_, to);
  if (!a || !b || a->kind != EventKind::timing || b->kind != EventKind::timing) return misuse();
  *ms = std::chrono::duration<float, std::milli>(b->when - a->when).count();
  return 0;
}

int FakeRuntime::copy_node(const Copy& c, cudaStream_t s, cudaGraphNode_t* node) {
  if (fails()) return fail_code;
  const std::lock_guard lock(mutex_);
  auto* stream = find(streams_, s);
  if (!stream || stream->capturing != (node != nullptr)) return misuse();
  push(*stream, {OpKind::copy, {}, c, nullptr, 0});
  if (node) *node = node_handle(stream->captured.size() - 1);
  return 0;
}

int FakeRuntime::copy_group(const GroupView& in, const GroupView& out, cudaStream_t s) {
  if (fails()) return fail_code;
  enqueue(s, [in, out] {
    const int bytes = in.type == SampleType::u8 ? 1 : in.type == SampleType::f32 ? 4 : 2;
    for (int y = 0; y < in.height; ++y)
      for (int x = 0; x < in.width; ++x) {
        const auto at = [&](int c, const GroupView& v) {
          return v.channel[c] + y * v.stride[c] + std::ptrdiff_t{x} * v.step;
        };
        for (int c = 0; c < in.channels; ++c)
          std::memcpy(at(c, out), at(c, in), static_cast<std::size_t>(bytes));
        if (in.carry)
          out.carry[y * out.stride[0] + std::ptrdiff_t{x} * out.step] =
              in.carry[y * in.stride[0] + std::ptrdiff_t{x} * in.step];
      }
  });
  return 0;
}

int FakeRuntime::finish_group(const Finish& f, const GroupView& in, const GroupView& out, cudaStream_t s) {
  if (fails()) return fail_code;
  enqueue(s, [f, in, out] { finish_rows(f, in, out, 0, in.height); });
  return 0;
}

// A number that tells frames apart: the first sample.
int FakeRuntime::estimate_noise(const GroupView& in, const CudaSigma& sigma, std::byte*, cudaStream_t s) {
  if (fails()) return fail_code;
  enqueue(s, [in, sigma] {
    for (int c = 0; c < in.channels; ++c)
      sigma.device[c] = sigma.report[c] = static_cast<float>(std::to_integer<int>(*in.channel[c]));
  });
  return 0;
}

std::size_t FakeRuntime::filter_scratch(const FilterInfo& filter, const CudaShape& shape) {
  return filter.run_definition ? 256 : filter.cuda_scratch(shape);
}

int FakeRuntime::run_filter(const FilterInfo& filter, const CudaJob& job, const void* params) {
  if (fails()) return fail_code;
  if (filter.run_definition)
    enqueue(job.stream, definition_on(filter, job, params));
  else
    filter.run_cuda(job, params);
  return 0;
}

int FakeRuntime::smooth_noise(const GroupView& in, SmoothedState* state, const SmoothedStep* step,
                              const CudaSigma& sigma, cudaStream_t s) {
  if (fails()) return fail_code;
  enqueue(s, smoothed_on(in, state, step, sigma));
  return 0;
}

int FakeRuntime::capture_begin(cudaStream_t s) {
  if (fails()) return fail_code;
  const std::lock_guard lock(mutex_);
  auto* stream = find(streams_, s);
  if (!stream || stream->capturing) return misuse();
  stream->capturing = true;
  stream->captured.clear();
  ++captures;
  return 0;
}

int FakeRuntime::capture_end(cudaStream_t s, cudaGraph_t* graph) {
  const bool failed = fails();
  const std::lock_guard lock(mutex_);
  auto* stream = find(streams_, s);
  if (!stream || !stream->capturing) return misuse();
  stream->capturing = false;
  if (failed) return *graph = nullptr, fail_code;
  auto g = std::make_unique<FakeGraph>(std::move(stream->captured));
  stream->captured.clear();
  *graph = reinterpret_cast<cudaGraph_t>(g.get());
  graphs_[*graph] = std::move(g);
  return 0;
}

int FakeRuntime::graph_destroy(cudaGraph_t graph) {
  const std::lock_guard lock(mutex_);
  return graphs_.erase(graph) == 1 ? 0 : misuse();
}

int FakeRuntime::graph_instantiate(cudaGraphExec_t* exec, cudaGraph_t graph) {
  if (fails()) return fail_code;
  const std::lock_guard lock(mutex_);
  auto* g = find(graphs_, graph);
  if (!g) return misuse();
  auto copy = std::make_unique<FakeGraph>(*g);
  *exec = reinterpret_cast<cudaGraphExec_t>(copy.get());
  execs_[*exec] = std::move(copy);
  ++instantiations;
  return 0;
}

int FakeRuntime::graph_update(cudaGraphExec_t exec, cudaGraph_t graph, bool* fits) {
  if (fails()) return fail_code;
  const std::lock_guard lock(mutex_);
  auto* x = find(execs_, exec);
  auto* g = find(graphs_, graph);
  if (!x || !g) return misuse();
  *fits = !update_never_fits && std::ranges::equal(*x, *g, {}, &Op::kind, &Op::kind);
  if (*fits) *x = *g, ++updates;
  return 0;
}

int FakeRuntime::graph_set_copy(cudaGraphExec_t exec, cudaGraphNode_t node, const Copy& c) {
  if (fails()) return fail_code;
  const std::lock_guard lock(mutex_);
  auto* x = find(execs_, exec);
  if (!x || node_number(node) >= x->size()) return misuse();
  auto& op = (*x)[node_number(node)];
  if (op.kind != OpKind::copy || c.rows != 1 || op.copy.rows != 1 || op.copy.row_bytes != c.row_bytes)
    return misuse();
  op.copy = c;
  ++copies_set;
  return 0;
}

int FakeRuntime::graph_launch(cudaGraphExec_t exec, cudaStream_t s) {
  if (fails()) return fail_code;
  const std::lock_guard lock(mutex_);
  auto* x = find(execs_, exec);
  auto* stream = find(streams_, s);
  if (!x || !stream || stream->capturing) return misuse();
  for (const auto& op : *x) push(*stream, op);
  ++launches;
  return 0;
}

int FakeRuntime::graph_exec_destroy(cudaGraphExec_t exec) {
  const std::lock_guard lock(mutex_);
  return execs_.erase(exec) == 1 ? 0 : misuse();
}

}  // namespace quietframe::cuda
