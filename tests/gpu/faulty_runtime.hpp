// Another runtime of which the n-th call fails: what a test walks through the error paths with.
#pragma once
#include <atomic>

#include "cuda/device.hpp"
#include "cuda/runtime.hpp"

namespace quietframe::cuda {

/// Calls that only make something, or hand work to the GPU, fail without doing it; calls that wait do wait
/// first, as failures of asynchronous work are reported. Destroying never fails.
class FaultyRuntime final : public Runtime {
 public:
  FaultyRuntime(Runtime& inner, int fail_call, int code) : inner_(inner), left_(fail_call), code_(code) {}

  void disarm() { left_ = 0; }
  bool fired() const { return fired_; }

  int driver_version(int* v) override { return inner_.driver_version(v); }
  int runtime_version(int* v) override { return inner_.runtime_version(v); }
  int device_count(int* n) override { return inner_.device_count(n); }
  int device(int id, Device* d) override { return inner_.device(id, d); }
  int memory_free(std::size_t* bytes) override { return inner_.memory_free(bytes); }
  int take_last_error() override { return inner_.take_last_error(); }
  const char* error_name(int code) override { return inner_.error_name(code); }
  const char* error_text(int code) override { return inner_.error_text(code); }
  bool pins_host_memory() override { return inner_.pins_host_memory(); }
  std::size_t noise_scratch(const CudaShape& shape) override { return inner_.noise_scratch(shape); }

  int primary_context(int device, CUcontext* context) override {
    return or_fail([&] { return inner_.primary_context(device, context); });
  }
  int context_push(CUcontext context) override {
    return or_fail([&] { return inner_.context_push(context); });
  }
  int context_pop() override { return inner_.context_pop(); }
  int device_alloc(void** p, std::size_t n) override {
    return or_fail([&] { return inner_.device_alloc(p, n); });
  }
  int device_clear(void* p, std::size_t n) override {
    return or_fail([&] { return inner_.device_clear(p, n); });
  }
  int device_upload(void* to, const void* from, std::size_t n) override {
    return or_fail([&] { return inner_.device_upload(to, from, n); });
  }
  int host_alloc(void** p, std::size_t n) override {
    return or_fail([&] { return inner_.host_alloc(p, n); });
  }
  int host_register(void* p, std::size_t n) override {
    return or_fail([&] { return inner_.host_register(p, n); });
  }
  int host_unregister(void* p) override { return inner_.host_unregister(p); }
  int stream_create(cudaStream_t* s) override {
    return or_fail([&] { return inner_.stream_create(s); });
  }
  int stream_wait(cudaStream_t s, cudaEvent_t e) override {
    return or_fail([&] { return inner_.stream_wait(s, e); });
  }
  int event_create(cudaEvent_t* e, EventKind k) override {
    return or_fail([&] { return inner_.event_create(e, k); });
  }
  int event_record(cudaEvent_t e, cudaStream_t s) override {
    return or_fail([&] { return inner_.event_record(e, s); });
  }
  int event_record_node(cudaEvent_t e, cudaStream_t s, cudaGraphNode_t* n) override {
    return or_fail([&] { return inner_.event_record_node(e, s, n); });
  }
  int event_wait_node(cudaEvent_t e, cudaStream_t s) override {
    return or_fail([&] { return inner_.event_wait_node(e, s); });
  }
  int event_query(cudaEvent_t e, bool* done) override {
    return or_fail([&] { return inner_.event_query(e, done); });
  }
  int event_elapsed(float* ms, cudaEvent_t a, cudaEvent_t b) override {
    return or_fail([&] { return inner_.event_elapsed(ms, a, b); });
  }
  int copy_node(const Copy& c, cudaStream_t s, cudaGraphNode_t* n) override {
    return or_fail([&] { return inner_.copy_node(c, s, n); });
  }
  int copy_group(const GroupView& in, const GroupView& out, cudaStream_t s) override {
    return or_fail([&] { return inner_.copy_group(in, out, s); });
  }
  int finish_group(const Finish& f, const GroupView& in, const GroupView& out, cudaStream_t s) override {
    return or_fail([&] { return inner_.finish_group(f, in, out, s); });
  }
  int estimate_noise(const GroupView& in, const CudaSigma& sigma, std::byte* scratch,
                     cudaStream_t s) override {
    return or_fail([&] { return inner_.estimate_noise(in, sigma, scratch, s); });
  }
  bool runs(const FilterInfo& filter) override { return inner_.runs(filter); }
  std::size_t filter_scratch(const FilterInfo& filter, const CudaShape& shape) override {
    return inner_.filter_scratch(filter, shape);
  }
  int run_filter(const FilterInfo& filter, const CudaJob& job, const void* params) override {
    return or_fail([&] { return inner_.run_filter(filter, job, params); });
  }
  int smooth_noise(const GroupView& in, SmoothedState* state, const SmoothedStep* step,
                   const CudaSigma& sigma, cudaStream_t s) override {
    return or_fail([&] { return inner_.smooth_noise(in, state, step, sigma, s); });
  }
  int capture_begin(cudaStream_t s) override {
    return or_fail([&] { return inner_.capture_begin(s); });
  }
  int graph_instantiate(cudaGraphExec_t* x, cudaGraph_t g) override {
    return or_fail([&] { return inner_.graph_instantiate(x, g); });
  }
  int graph_update(cudaGraphExec_t x, cudaGraph_t g, bool* fits) override {
    return or_fail([&] { return inner_.graph_update(x, g, fits); });
  }
  int graph_set_copy(cudaGraphExec_t x, cudaGraphNode_t n, const Copy& c) override {
    return or_fail([&] { return inner_.graph_set_copy(x, n, c); });
  }
  int graph_launch(cudaGraphExec_t x, cudaStream_t s) override {
    return or_fail([&] { return inner_.graph_launch(x, s); });
  }

  int stream_synchronize(cudaStream_t s) override { return then_fail(inner_.stream_synchronize(s)); }
  int event_synchronize(cudaEvent_t e) override { return then_fail(inner_.event_synchronize(e)); }
  int capture_end(cudaStream_t s, cudaGraph_t* graph) override {
    return then_fail(inner_.capture_end(s, graph));
  }

  int device_free(void* p) override { return inner_.device_free(p); }
  int host_free(void* p) override { return inner_.host_free(p); }
  int stream_destroy(cudaStream_t s) override { return inner_.stream_destroy(s); }
  int event_destroy(cudaEvent_t e) override { return inner_.event_destroy(e); }
  int graph_destroy(cudaGraph_t g) override { return inner_.graph_destroy(g); }
  int graph_exec_destroy(cudaGraphExec_t x) override { return inner_.graph_exec_destroy(x); }

 private:
  bool fails() {
    if (left_ <= 0 || left_-- != 1) return false;  // calls come from several threads
    return fired_ = true;
  }
  template <class F>
  int or_fail(F&& call) {
    return fails() ? code_ : call();
  }
  int then_fail(int code) { return fails() ? code_ : code; }

  Runtime& inner_;
  std::atomic<int> left_;
  int code_;
  std::atomic<bool> fired_ = false;
};

}  // namespace quietframe::cuda
