// One frame's upload, kernels and download as an executable graph that is updated in place.
#pragma once
#include <functional>
#include <vector>

#include "cuda/handles.hpp"

namespace quietframe::cuda {

class FrameGraph {
 public:
  /// Captures what `enqueue` enqueues on `stream`. The executable graph of an earlier capture is updated
  /// where the two are alike (same nodes, other arguments), else replaced. Launches already enqueued are not
  /// affected.
  void capture(cudaStream_t stream, const std::function<void()>& enqueue);
  bool captured() const { return exec_ != nullptr; }
  void reset();

  /// From within `enqueue`: enqueues a copy whose addresses may be set later, by its number in order of
  /// calls.
  void add_copy(const Copy& c, cudaStream_t stream);
  /// Sets the addresses of copy `number`; its shape stays. Does nothing where they have not changed. False
  /// where CUDA cannot: nodes of two-dimensional copies keep their addresses, and the frame has to be
  /// captured anew.
  [[nodiscard]] bool set_copy(std::size_t number, const Copy& c);

  void launch(cudaStream_t stream);

 private:
  struct Slot {
    cudaGraphNode_t node;  ///< of graph_
    Copy copy;
  };
  Graph record(cudaStream_t stream, const std::function<void()>& enqueue);

  Graph graph_;  ///< that exec_ was instantiated from: its nodes name those of exec_
  GraphExec exec_;
  std::vector<Slot> copies_;
};

}  // namespace quietframe::cuda
