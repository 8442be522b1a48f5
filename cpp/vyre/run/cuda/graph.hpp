// Launches that are given to the driver once and submitted as one operation, as often as wanted.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "vyre/run/cuda/calls.hpp"
#include "vyre/run/cuda/device.hpp"
#include "vyre/run/cuda/launch.hpp"

namespace vyre::run::cuda {

// Joins a call to the arrays that it works with.
struct Bound {
  const Launch* launch = nullptr;
  Arrays arrays;
};

// The launches of the calls, with the results that they have one after the other; calls that share nothing may run at once. Their Launches
// and the memory of their arrays must outlive it.
class Graph final : public Retired {
 public:
  // Whether the driver can keep the calls: they are many enough to pay, few enough for its memory, and need no copies.
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

}  // namespace vyre::run::cuda
