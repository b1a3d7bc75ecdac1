// Every CUDA call of the library's host code, as one interface: tests put a fake device or a failing one
// behind the same owners, and builds without CUDA an absent one.
#pragma once
#include <cstddef>
#include <string>

#include "cuda/types.hpp"

namespace quietframe {
struct CudaJob;
struct CudaShape;
struct CudaSigma;
struct FilterInfo;
struct Finish;
struct GroupView;
struct SmoothedState;
struct SmoothedStep;
}  // namespace quietframe

typedef struct CUctx_st* CUcontext;  // NOLINT(modernize-use-using): as cuda.h declares it

namespace quietframe::cuda {

struct Device;

enum class CopyKind { upload, download, on_device };

/// A copy of `rows` rows of `row_bytes`; one row is a plain copy and its pitches do not matter.
struct Copy {
  std::byte* to = nullptr;
  const std::byte* from = nullptr;
  std::size_t to_pitch = 0, from_pitch = 0;  ///< bytes, at least row_bytes
  std::size_t row_bytes = 0, rows = 1;
  CopyKind kind = CopyKind::upload;
};

enum class EventKind {
  ordering,  ///< for cudaStreamWaitEvent and polling
  blocking,  ///< synchronizing sleeps instead of spinning
  timing,    ///< carries a time stamp
};

/// Functions return a cudaError_t as int; 0 is success. All but the first group need a current context.
class Runtime {
 public:
  virtual ~Runtime() = default;

  virtual int driver_version(int* version) = 0;  ///< 0 where there is no driver
  virtual int runtime_version(int* version) = 0;
  virtual int device_count(int* count) = 0;
  virtual int device(int id, Device* device) = 0;
  /// The context of a device that the CUDA runtime itself uses; made where there is none yet, and never let
  /// go.
  virtual int primary_context(int device, CUcontext* context) = 0;
  /// Makes a context the thread's current one, until it is popped.
  virtual int context_push(CUcontext context) = 0;
  virtual int context_pop() = 0;
  virtual int memory_free(std::size_t* bytes) = 0;
  virtual int take_last_error() = 0;  ///< and clears it
  virtual const char* error_name(int code) = 0;
  virtual const char* error_text(int code) = 0;
  virtual bool pins_host_memory() = 0;

  virtual int device_alloc(void** p, std::size_t bytes) = 0;
  virtual int device_free(void* p) = 0;
  virtual int device_clear(void* p, std::size_t bytes) = 0;  ///< zeros, there when it returns
  virtual int device_upload(void* to, const void* from, std::size_t bytes) = 0;  ///< there when it returns
  virtual int host_alloc(void** p, std::size_t bytes) = 0;  ///< page-locked, for every device
  virtual int host_free(void* p) = 0;
  virtual int host_register(void* p, std::size_t bytes) = 0;  ///< page-locks memory of others
  virtual int host_unregister(void* p) = 0;

  virtual int stream_create(cudaStream_t* s) = 0;  ///< not ordered with the legacy default stream
  virtual int stream_destroy(cudaStream_t s) = 0;
  virtual int stream_synchronize(cudaStream_t s) = 0;
  virtual int stream_wait(cudaStream_t s, cudaEvent_t e) = 0;

  virtual int event_create(cudaEvent_t* e, EventKind kind) = 0;
  virtual int event_destroy(cudaEvent_t e) = 0;
  virtual int event_record(cudaEvent_t e, cudaStream_t s) = 0;
  /// While `s` is being captured: a node that records `e` with every launch, for waits outside of the graph.
  virtual int event_record_node(cudaEvent_t e, cudaStream_t s, cudaGraphNode_t* node) = 0;
  /// While `s` is being captured: a node that waits for what `e` recorded last when the graph is launched.
  virtual int event_wait_node(cudaEvent_t e, cudaStream_t s) = 0;
  virtual int event_query(cudaEvent_t e, bool* done) = 0;
  virtual int event_synchronize(cudaEvent_t e) = 0;
  virtual int event_elapsed(float* ms, cudaEvent_t from, cudaEvent_t to) = 0;

  /// A copy, and the node it became where `s` is being captured; null `node`: it is not.
  virtual int copy_node(const Copy& c, cudaStream_t s, cudaGraphNode_t* node) = 0;
  /// Samples and carry bytes of a group that no filter touches.
  virtual int copy_group(const GroupView& in, const GroupView& out, cudaStream_t s) = 0;
  /// The region and the preview of a group that has been filtered; f.mask is device memory.
  virtual int finish_group(const Finish& f, const GroupView& in, const GroupView& out, cudaStream_t s) = 0;

  virtual std::size_t noise_scratch(const CudaShape& shape) = 0;
  /// estimate_sigma_cuda of noise/estimate_cuda.hpp.
  virtual int estimate_noise(const GroupView& in, const CudaSigma& sigma, std::byte* scratch,
                             cudaStream_t s) = 0;

  /// Whether there is a program of `filter` here; its scratch; and its work, enqueued on job.stream.
  virtual bool runs(const FilterInfo& filter) = 0;
  virtual std::size_t filter_scratch(const FilterInfo& filter, const CudaShape& shape) = 0;
  virtual int run_filter(const FilterInfo& filter, const CudaJob& job, const void* params) = 0;
  /// smooth_sigma_cuda of noise/smoothed_cuda.hpp.
  virtual int smooth_noise(const GroupView& in, SmoothedState* state, const SmoothedStep* step,
                           const CudaSigma& sigma, cudaStream_t s) = 0;

  virtual int capture_begin(cudaStream_t s) = 0;
  virtual int capture_end(cudaStream_t s, cudaGraph_t* graph) = 0;  ///< null graph where capture was broken
  virtual int graph_destroy(cudaGraph_t graph) = 0;
  virtual int graph_instantiate(cudaGraphExec_t* exec, cudaGraph_t graph) = 0;
  /// `*fits` is false where the graphs differ too much; then the executable one is unchanged.
  virtual int graph_update(cudaGraphExec_t exec, cudaGraph_t graph, bool* fits) = 0;
  /// `node` is of the graph that `exec` was instantiated from; the copy has one row and keeps its size.
  virtual int graph_set_copy(cudaGraphExec_t exec, cudaGraphNode_t node, const Copy& c) = 0;
  virtual int graph_launch(cudaGraphExec_t exec, cudaStream_t s) = 0;
  virtual int graph_exec_destroy(cudaGraphExec_t exec) = 0;
};

/// The runtime in use: CUDA's, or the absent one of builds without CUDA.
Runtime& runtime();
/// For tests: `other` instead (null: the build's own again), while nothing of this library is in use.
void replace_runtime(Runtime* other);

}  // namespace quietframe::cuda
