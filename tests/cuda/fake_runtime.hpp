// A fake GPU behind quietframe::cuda::Runtime: streams are threads, device memory is host memory with guards
// round it, graphs are lists of operations; every misuse and every leak is counted.
#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "cuda/device.hpp"
#include "cuda/runtime.hpp"
#include "filter.hpp"

namespace quietframe::cuda {

class FakeRuntime final : public Runtime {
 public:
  // What a test sets.
  int devices = 1;
  std::size_t device_bytes = std::size_t{1} << 30;  ///< of the fake device
  bool pinned_runs_out = false;
  std::chrono::microseconds copy_takes{0};
  int fail_call = 0;    ///< the n-th call that can fail, counted from 1, fails; 0: none
  int fail_code = 999;  ///< with this code
  bool update_never_fits = false;

  // What a test reads.
  std::atomic<int> calls{0};  ///< that can fail
  std::atomic<int> captures{0}, instantiations{0}, updates{0}, launches{0}, copies_set{0};
  std::atomic<int> misuses{0};  ///< unknown handles, memory out of bounds, use after free
  std::size_t live() const;     ///< handles and allocations not yet freed
  std::size_t most_running() const { return most_running_; }
  std::atomic<CUcontext> current{nullptr};  ///< the one that was pushed last
  std::atomic<int> pushed{0};               ///< contexts that are current on some thread

  FakeRuntime();
  ~FakeRuntime() override;

  /// Filters that have a definition run by it, on the CPU; for those of tests: runs `work` on `s` in order
  /// (or captures it).
  void enqueue(cudaStream_t s, std::function<void()> work);

  int driver_version(int* v) override { return *v = 13000, 0; }
  int runtime_version(int* v) override { return *v = 13000, 0; }
  int device_count(int* n) override;
  int device(int id, Device* d) override;
  int primary_context(int device, CUcontext* context) override;
  int context_push(CUcontext context) override;
  int context_pop() override;
  int memory_free(std::size_t* bytes) override;
  int take_last_error() override;
  const char* error_name(int) override { return "fakeError"; }
  const char* error_text(int code) override {
    return code == 2 ? "out of memory" : "a failure that the test asked for";
  }
  bool pins_host_memory() override { return true; }
  int device_alloc(void** p, std::size_t bytes) override;
  int device_free(void* p) override;
  int device_clear(void* p, std::size_t bytes) override;
  int device_upload(void* to, const void* from, std::size_t bytes) override;
  int host_alloc(void** p, std::size_t bytes) override;
  int host_free(void* p) override;
  int host_register(void* p, std::size_t bytes) override;
  int host_unregister(void* p) override;
  int stream_create(cudaStream_t* s) override;
  int stream_destroy(cudaStream_t s) override;
  int stream_synchronize(cudaStream_t s) override;
  int stream_wait(cudaStream_t s, cudaEvent_t e) override;
  int event_create(cudaEvent_t* e, EventKind kind) override;
  int event_destroy(cudaEvent_t e) override;
  int event_record(cudaEvent_t e, cudaStream_t s) override;
  int event_record_node(cudaEvent_t e, cudaStream_t s, cudaGraphNode_t* node) override;
  int event_wait_node(cudaEvent_t e, cudaStream_t s) override;
  int event_query(cudaEvent_t e, bool* done) override;
  int event_synchronize(cudaEvent_t e) override;
  int event_elapsed(float* ms, cudaEvent_t from, cudaEvent_t to) override;
  int copy_node(const Copy& c, cudaStream_t s, cudaGraphNode_t* node) override;
  int copy_group(const GroupView& in, const GroupView& out, cudaStream_t s) override;
  int finish_group(const Finish& f, const GroupView& in, const GroupView& out, cudaStream_t s) override;
  std::size_t noise_scratch(const CudaShape&) override { return 256; }
  int estimate_noise(const GroupView& in, const CudaSigma& sigma, std::byte* scratch,
                     cudaStream_t s) override;
  bool runs(const FilterInfo&) override { return true; }
  std::size_t filter_scratch(const FilterInfo& filter, const CudaShape& shape) override;
  int run_filter(const FilterInfo& filter, const CudaJob& job, const void* params) override;
  int smooth_noise(const GroupView& in, SmoothedState* state, const SmoothedStep* step,
                   const CudaSigma& sigma, cudaStream_t s) override;
  int capture_begin(cudaStream_t s) override;
  int capture_end(cudaStream_t s, cudaGraph_t* graph) override;
  int graph_destroy(cudaGraph_t graph) override;
  int graph_instantiate(cudaGraphExec_t* exec, cudaGraph_t graph) override;
  int graph_update(cudaGraphExec_t exec, cudaGraph_t graph, bool* fits) override;
  int graph_set_copy(cudaGraphExec_t exec, cudaGraphNode_t node, const Copy& c) override;
  int graph_launch(cudaGraphExec_t exec, cudaStream_t s) override;
  int graph_exec_destroy(cudaGraphExec_t exec) override;

 private:
  enum class OpKind { work, copy, record, wait };
  struct Op {
    OpKind kind;
    std::function<void()> work;
    Copy copy;
    cudaEvent_t event = nullptr;
    std::uint64_t ticket = 0;
  };
  struct FakeStream {
    std::deque<Op> queue;
    bool busy = false, stop = false, capturing = false;
    std::vector<Op> captured;
    std::condition_variable wake;
    std::thread thread;
  };
  struct FakeEvent {
    std::uint64_t recorded = 0, reached = 0;
    std::chrono::steady_clock::time_point when;
    EventKind kind;
  };
  using FakeGraph = std::vector<Op>;

  bool fails();
  int misuse();
  void push(FakeStream& s, Op op);
  void run_stream(FakeStream& s);
  void perform(const Op& op);
  void perform_copy(const Copy& c);
  bool on_device(const std::byte* p, std::size_t bytes) const;
  template <class T, class H>
  T* find(std::map<H, std::unique_ptr<T>>& table, H handle);

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<cudaStream_t, std::unique_ptr<FakeStream>> streams_;
  std::map<cudaEvent_t, std::unique_ptr<FakeEvent>> events_;
  std::map<cudaGraph_t, std::unique_ptr<FakeGraph>> graphs_;
  std::map<cudaGraphExec_t, std::unique_ptr<FakeGraph>> execs_;
  std::map<const std::byte*, std::size_t> device_memory_, pinned_memory_, registered_;
  std::size_t device_used_ = 0, running_ = 0, most_running_ = 0;
  int last_error_ = 0;
};

}  // namespace quietframe::cuda
