// The runtime of builds without a CUDA toolkit: no driver, no device, every call fails with the reason.
#include "cuda/runtime.hpp"

namespace quietframe::cuda {
namespace {

constexpr int insufficient_driver = 35;  // what CUDA itself answers where there is no driver

class AbsentRuntime final : public Runtime {
 public:
  int driver_version(int* version) override { return *version = 0; }
  int runtime_version(int* version) override { return *version = 0; }
  int device_count(int* count) override { return *count = 0, none(); }
  int device(int, Device*) override { return none(); }
  int primary_context(int, CUcontext*) override { return none(); }
  int context_push(CUcontext) override { return none(); }
  int context_pop() override { return none(); }
  int memory_free(std::size_t*) override { return none(); }
  int take_last_error() override { return 0; }
  const char* error_name(int) override { return "no CUDA"; }
  const char* error_text(int) override {
    return "this build has no CUDA support (it was compiled without nvcc)";
  }
  bool pins_host_memory() override { return false; }
  int device_alloc(void**, std::size_t) override { return none(); }
  int device_free(void*) override { return none(); }
  int device_clear(void*, std::size_t) override { return none(); }
  int device_upload(void*, const void*, std::size_t) override { return none(); }
  int host_alloc(void**, std::size_t) override { return none(); }
  int host_free(void*) override { return none(); }
  int host_register(void*, std::size_t) override { return none(); }
  int host_unregister(void*) override { return none(); }
  int stream_create(cudaStream_t*) override { return none(); }
  int stream_destroy(cudaStream_t) override { return none(); }
  int stream_synchronize(cudaStream_t) override { return none(); }
  int stream_wait(cudaStream_t, cudaEvent_t) override { return none(); }
  int event_create(cudaEvent_t*, EventKind) override { return none(); }
  int event_destroy(cudaEvent_t) override { return none(); }
  int event_record(cudaEvent_t, cudaStream_t) override { return none(); }
  int event_record_node(cudaEvent_t, cudaStream_t, cudaGraphNode_t*) override { return none(); }
  int event_wait_node(cudaEvent_t, cudaStream_t) override { return none(); }
  int event_query(cudaEvent_t, bool*) override { return none(); }
  int event_synchronize(cudaEvent_t) override { return none(); }
  int event_elapsed(float*, cudaEvent_t, cudaEvent_t) override { return none(); }
  int copy_node(const Copy&, cudaStream_t, cudaGraphNode_t*) override { return none(); }
  int copy_group(const GroupView&, const GroupView&, cudaStream_t) override { return none(); }
  int finish_group(const Finish&, const GroupView&, const GroupView&, cudaStream_t) override {
    return none();
  }
  std::size_t noise_scratch(const CudaShape&) override { return 0; }
  int estimate_noise(const GroupView&, const CudaSigma&, std::byte*, cudaStream_t) override { return none(); }
  bool runs(const FilterInfo&) override { return false; }
  std::size_t filter_scratch(const FilterInfo&, const CudaShape&) override { return 0; }
  int run_filter(const FilterInfo&, const CudaJob&, const void*) override { return none(); }
  int smooth_noise(const GroupView&, SmoothedState*, const SmoothedStep*, const CudaSigma&,
                   cudaStream_t) override {
    return none();
  }
  int capture_begin(cudaStream_t) override { return none(); }
  int capture_end(cudaStream_t, cudaGraph_t*) override { return none(); }
  int graph_destroy(cudaGraph_t) override { return none(); }
  int graph_instantiate(cudaGraphExec_t*, cudaGraph_t) override { return none(); }
  int graph_update(cudaGraphExec_t, cudaGraph_t, bool*) override { return none(); }
  int graph_set_copy(cudaGraphExec_t, cudaGraphNode_t, const Copy&) override { return none(); }
  int graph_launch(cudaGraphExec_t, cudaStream_t) override { return none(); }
  int graph_exec_destroy(cudaGraphExec_t) override { return none(); }

 private:
  static int none() { return insufficient_driver; }
};

}  // namespace

Runtime& built_in_runtime() {
  static AbsentRuntime r;
  return r;
}

}  // namespace quietframe::cuda
