// The CUDA runtime behind the interface of runtime.hpp.
#include <cuda.h>  // types alone: nothing here links to the driver
#include <cuda_runtime_api.h>

#include "cuda/copy_group.hpp"
#include "cuda/device.hpp"
#include "cuda/finish_group.hpp"
#include "cuda/job.hpp"
#include "cuda/runtime.hpp"
#include "cuda/small_copy.hpp"
#include "noise/estimate_cuda.hpp"
#include "noise/smoothed_cuda.hpp"

namespace quietframe::cuda {
namespace {

cudaMemcpyKind kind_of(CopyKind kind) {
  switch (kind) {
    case CopyKind::upload:
      return cudaMemcpyHostToDevice;
    case CopyKind::download:
      return cudaMemcpyDeviceToHost;
    case CopyKind::on_device:
      return cudaMemcpyDeviceToDevice;
  }
  return cudaMemcpyDefault;
}

// The node that the last call on a capturing stream became.
int last_node(cudaStream_t s, cudaGraphNode_t* node) {
  cudaStreamCaptureStatus status;
  const cudaGraphNode_t* last = nullptr;
  std::size_t count = 0;
#if CUDART_VERSION >= 13000
  const auto code = cudaStreamGetCaptureInfo(s, &status, nullptr, nullptr, &last, nullptr, &count);
#else
  const auto code = cudaStreamGetCaptureInfo_v2(s, &status, nullptr, nullptr, &last, &count);
#endif
  if (code != cudaSuccess) return code;
  if (status != cudaStreamCaptureStatusActive || count != 1) return cudaErrorStreamCaptureInvalidated;
  *node = last[0];
  return cudaSuccess;
}

// Depends on the shape alone: a graph's node stays of its kind when its addresses are set.
bool is_small(const Copy& c) {
  return c.rows == 1 && c.row_bytes <= small_copy_bytes && c.kind != CopyKind::on_device;
}

// A function of the driver, through the runtime; null where there is no driver.
template <class F>
F driver_function(const char* name) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found;
#if CUDART_VERSION >= 12050
  const auto code = cudaGetDriverEntryPointByVersion(name, &function, 12000, cudaEnableDefault, &found);
#else
  const auto code = cudaGetDriverEntryPoint(name, &function, cudaEnableDefault, &found);
#endif
  return code == cudaSuccess ? reinterpret_cast<F>(function) : nullptr;
}

// The runtime has no notion of contexts other than the primary ones; it works in whichever is current.
struct Driver {
  decltype(&cuDeviceGet) device_get = driver_function<decltype(&cuDeviceGet)>("cuDeviceGet");
  decltype(&cuDevicePrimaryCtxRetain) retain =
      driver_function<decltype(&cuDevicePrimaryCtxRetain)>("cuDevicePrimaryCtxRetain");
  decltype(&cuCtxPushCurrent) push = driver_function<decltype(&cuCtxPushCurrent)>("cuCtxPushCurrent");
  decltype(&cuCtxPopCurrent) pop = driver_function<decltype(&cuCtxPopCurrent)>("cuCtxPopCurrent");

  bool complete() const { return device_get && retain && push && pop; }
};

const Driver& driver() {
  static const Driver d;
  return d;
}

class CudaRuntime final : public Runtime {
 public:
  int driver_version(int* version) override { return cudaDriverGetVersion(version); }
  int runtime_version(int* version) override { return cudaRuntimeGetVersion(version); }
  int device_count(int* count) override { return cudaGetDeviceCount(count); }
  int device(int id, Device* device) override {
    cudaDeviceProp prop;
    const auto code = cudaGetDeviceProperties(&prop, id);
    if (code == cudaSuccess)
      *device = {id, prop.name, prop.multiProcessorCount, prop.major, prop.minor, prop.totalGlobalMem};
    return code;
  }
  int primary_context(int device, CUcontext* context) override {
    CUdevice handle = 0;
    if (!driver().complete()) return cudaErrorInsufficientDriver;
    if (const auto code = driver().device_get(&handle, device); code != CUDA_SUCCESS) return code;
    return driver().retain(context, handle);
  }
  int context_push(CUcontext context) override {
    return driver().complete() ? static_cast<int>(driver().push(context)) : cudaErrorInsufficientDriver;
  }
  int context_pop() override {
    CUcontext popped = nullptr;
    return driver().complete() ? static_cast<int>(driver().pop(&popped)) : cudaErrorInsufficientDriver;
  }
  int memory_free(std::size_t* bytes) override {
    std::size_t total = 0;
    return cudaMemGetInfo(bytes, &total);
  }
  int take_last_error() override { return cudaGetLastError(); }
  const char* error_name(int code) override { return cudaGetErrorName(static_cast<cudaError_t>(code)); }
  const char* error_text(int code) override { return cudaGetErrorString(static_cast<cudaError_t>(code)); }
  bool pins_host_memory() override { return true; }

  int device_alloc(void** p, std::size_t bytes) override { return cudaMalloc(p, bytes); }
  int device_free(void* p) override { return cudaFree(p); }
  int device_clear(void* p, std::size_t bytes) override {
    if (const auto code = cudaMemset(p, 0, bytes); code != cudaSuccess) return code;
    return cudaStreamSynchronize(cudaStreamLegacy);
  }
  int device_upload(void* to, const void* from, std::size_t bytes) override {
    return cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice);
  }
  int host_alloc(void** p, std::size_t bytes) override {
    return cudaHostAlloc(p, bytes, cudaHostAllocPortable);
  }
  int host_free(void* p) override { return cudaFreeHost(p); }
  int host_register(void* p, std::size_t bytes) override {
    return cudaHostRegister(p, bytes, cudaHostRegisterPortable);
  }
  int host_unregister(void* p) override { return cudaHostUnregister(p); }

  int stream_create(cudaStream_t* s) override { return cudaStreamCreateWithFlags(s, cudaStreamNonBlocking); }
  int stream_destroy(cudaStream_t s) override { return cudaStreamDestroy(s); }
  int stream_synchronize(cudaStream_t s) override { return cudaStreamSynchronize(s); }
  int stream_wait(cudaStream_t s, cudaEvent_t e) override { return cudaStreamWaitEvent(s, e, 0); }

  int event_create(cudaEvent_t* e, EventKind kind) override {
    unsigned flags = cudaEventDisableTiming;
    if (kind == EventKind::blocking) flags |= cudaEventBlockingSync;
    if (kind == EventKind::timing) flags = cudaEventDefault;
    return cudaEventCreateWithFlags(e, flags);
  }
  int event_destroy(cudaEvent_t e) override { return cudaEventDestroy(e); }
  int event_record(cudaEvent_t e, cudaStream_t s) override { return cudaEventRecord(e, s); }
  int event_record_node(cudaEvent_t e, cudaStream_t s, cudaGraphNode_t* node) override {
    const auto code = cudaEventRecordWithFlags(e, s, cudaEventRecordExternal);
    return code == cudaSuccess ? last_node(s, node) : code;
  }
  int event_wait_node(cudaEvent_t e, cudaStream_t s) override {
    return cudaStreamWaitEvent(s, e, cudaEventWaitExternal);
  }
  int event_query(cudaEvent_t e, bool* done) override {
    const auto code = cudaEventQuery(e);
    *done = code == cudaSuccess;
    return code == cudaErrorNotReady ? cudaSuccess : code;
  }
  int event_synchronize(cudaEvent_t e) override { return cudaEventSynchronize(e); }
  int event_elapsed(float* ms, cudaEvent_t from, cudaEvent_t to) override {
    return cudaEventElapsedTime(ms, from, to);
  }

  int copy_node(const Copy& c, cudaStream_t s, cudaGraphNode_t* node) override {
    if (is_small(c)) {
      SmallCopy copy(c.to, c.from, c.row_bytes);
      const auto code =
          cudaLaunchKernel(SmallCopy::function(), copy.blocks, SmallCopy::threads, copy.arguments, 0, s);
      return code == cudaSuccess && node ? last_node(s, node) : code;
    }
    const auto code = c.rows == 1 ? cudaMemcpyAsync(c.to, c.from, c.row_bytes, kind_of(c.kind), s)
                                  : cudaMemcpy2DAsync(c.to, c.to_pitch, c.from, c.from_pitch, c.row_bytes,
                                                      c.rows, kind_of(c.kind), s);
    return code == cudaSuccess && node ? last_node(s, node) : code;
  }
  int copy_group(const GroupView& in, const GroupView& out, cudaStream_t s) override {
    launch_copy_group(in, out, s);
    return cudaGetLastError();
  }
  int finish_group(const Finish& f, const GroupView& in, const GroupView& out, cudaStream_t s) override {
    launch_finish_group(f, in, out, s);
    return cudaGetLastError();
  }

  std::size_t noise_scratch(const CudaShape& shape) override { return estimate_sigma_cuda_scratch(shape); }
  int estimate_noise(const GroupView& in, const CudaSigma& sigma, std::byte* scratch,
                     cudaStream_t s) override {
    estimate_sigma_cuda(in, sigma, scratch, s);
    return cudaSuccess;
  }
  int smooth_noise(const GroupView& in, SmoothedState* state, const SmoothedStep* step,
                   const CudaSigma& sigma, cudaStream_t s) override {
    smooth_sigma_cuda(in, state, step, sigma, s);
    return cudaSuccess;
  }

  bool runs(const FilterInfo& filter) override { return filter.run_cuda != nullptr; }
  std::size_t filter_scratch(const FilterInfo& filter, const CudaShape& shape) override {
    return filter.cuda_scratch(shape);
  }
  int run_filter(const FilterInfo& filter, const CudaJob& job, const void* params) override {
    filter.run_cuda(job, params);  // throws where a launch fails
    return cudaSuccess;
  }

  // Thread-local: other threads of the application may call what is forbidden during a capture.
  int capture_begin(cudaStream_t s) override {
    return cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal);
  }
  int capture_end(cudaStream_t s, cudaGraph_t* graph) override { return cudaStreamEndCapture(s, graph); }
  int graph_destroy(cudaGraph_t graph) override { return cudaGraphDestroy(graph); }
  int graph_instantiate(cudaGraphExec_t* exec, cudaGraph_t graph) override {
    return cudaGraphInstantiateWithFlags(exec, graph, 0);
  }
  int graph_update(cudaGraphExec_t exec, cudaGraph_t graph, bool* fits) override {
    cudaGraphExecUpdateResultInfo info;
    const auto code = cudaGraphExecUpdate(exec, graph, &info);
    *fits = code == cudaSuccess;
    if (code != cudaErrorGraphExecUpdateFailure) return code;
    cudaGetLastError();  // expected: the caller instantiates anew
    return cudaSuccess;
  }
  int graph_set_copy(cudaGraphExec_t exec, cudaGraphNode_t node, const Copy& c) override {
    if (is_small(c)) {
      SmallCopy copy(c.to, c.from, c.row_bytes);
      cudaKernelNodeParams params{};
      params.func = SmallCopy::function();
      params.gridDim = copy.blocks;
      params.blockDim = SmallCopy::threads;
      params.kernelParams = copy.arguments;
      return cudaGraphExecKernelNodeSetParams(exec, node, &params);
    }
    return cudaGraphExecMemcpyNodeSetParams1D(exec, node, c.to, c.from, c.row_bytes, kind_of(c.kind));
  }
  int graph_launch(cudaGraphExec_t exec, cudaStream_t s) override { return cudaGraphLaunch(exec, s); }
  int graph_exec_destroy(cudaGraphExec_t exec) override { return cudaGraphExecDestroy(exec); }
};

}  // namespace

Runtime& built_in_runtime() {
  static CudaRuntime r;
  return r;
}

}  // namespace quietframe::cuda
