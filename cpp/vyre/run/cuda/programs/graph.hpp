// Gives launches to the driver once, and submits them together any number of times.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "vyre/run/cuda/calls/calls.hpp"
#include "vyre/run/cuda/calls/launch.hpp"
#include "vyre/run/cuda/device.hpp"

namespace vyre::run::cuda {

// Joins a call to the arrays that it works with.
struct Bound {
  const Launch* launch = nullptr;
  Arrays arrays;
};

// Has the launches of the calls. The results are as if the calls ran one after the other, but calls without a hazard between them may run
// at the same time. The Launch objects of the calls and the memory of their arrays must outlive the graph.
class Graph final : public Retired {
 public:
  // Whether the calls should become a graph: their launches are neither too few nor too many, and they copy neither parameters nor arrays.
  static bool pays(std::span<const Bound> calls);

  Graph(Device& device, std::span<const Bound> calls);
  ~Graph() override;

  // Submits the launches. `used` is called in the order of the stream.
  TimelineValue submit(const Transfers::Used& used, const RunOptions& options);
  TimelineValue last_use() const { return last_use_; }

 private:
  Device& device_;
  std::vector<const Kernels*> kernels_;
  std::vector<Block> extra_;
  CUgraphExec exec_ = nullptr;
  std::atomic<TimelineValue> last_use_ = 0;
  std::atomic<bool> was_launched_ = false;
};

// Destroys the graph, which may be null, once the device is done with it.
void retire(Device& device, std::unique_ptr<Graph> graph);

}  // namespace vyre::run::cuda
