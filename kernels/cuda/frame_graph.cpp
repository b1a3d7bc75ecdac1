// Captures, instantiates and updates the graph of a frame.
#include "cuda/frame_graph.hpp"

#include "cuda/error.hpp"

namespace quietframe::cuda {

Graph FrameGraph::record(cudaStream_t stream, const std::function<void()>& enqueue) {
  auto& r = runtime();
  cudaGraph_t graph = nullptr;
  QF_CUDA_CHECK(r.capture_begin(stream));
  try {
    enqueue();
  } catch (...) {
    // The capture must end, or the stream could never be used again; its own failure says nothing new.
    if (r.capture_end(stream, &graph) != 0) r.take_last_error();
    const Graph discarded(graph);
    throw;
  }
  const int code = r.capture_end(stream, &graph);
  Graph recorded(graph);
  QF_CUDA_CHECK(code);
  return recorded;
}

void FrameGraph::capture(cudaStream_t stream, const std::function<void()>& enqueue) {
  auto& r = runtime();
  std::vector<Slot> before;
  before.swap(copies_);
  try {
    Graph graph = record(stream, enqueue);
    bool fits = false;
    if (exec_ && before.size() == copies_.size())
      QF_CUDA_CHECK(r.graph_update(exec_.get(), graph.get(), &fits));
    if (fits) {
      for (std::size_t i = 0; i < before.size(); ++i) copies_[i].node = before[i].node;
      return;
    }
    cudaGraphExec_t exec = nullptr;
    QF_CUDA_CHECK(r.graph_instantiate(&exec, graph.get()));
    exec_.reset(exec);
    graph_ = std::move(graph);
  } catch (...) {
    reset();
    throw;
  }
}

void FrameGraph::reset() {
  exec_.reset();
  graph_.reset();
  copies_.clear();
}

void FrameGraph::add_copy(const Copy& c, cudaStream_t stream) {
  cudaGraphNode_t node = nullptr;
  QF_CUDA_CHECK(runtime().copy_node(c, stream, &node));
  copies_.push_back({node, c});
}

bool FrameGraph::set_copy(std::size_t number, const Copy& c) {
  auto& slot = copies_[number];
  if (slot.copy.to == c.to && slot.copy.from == c.from) return true;
  if (c.rows > 1) return false;
  QF_CUDA_CHECK(runtime().graph_set_copy(exec_.get(), slot.node, c));
  slot.copy = c;
  return true;
}

void FrameGraph::launch(cudaStream_t stream) { QF_CUDA_CHECK(runtime().graph_launch(exec_.get(), stream)); }

}  // namespace quietframe::cuda
