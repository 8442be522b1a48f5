// Records calls into a graph of the driver on several streams, so that calls without a hazard between them may run at the same time.
//
// A capture has a few branches, and each branch is a stream. A call that conflicts (gpu/hazards.hpp) with calls on some branches is
// recorded on one of these branches and waits for the others. A call that conflicts with none is recorded on the branch with the fewest
// calls. So calls that depend on each other form a chain on one branch, which needs no events.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "vyre/run/cuda/api/context.hpp"
#include "vyre/run/gpu/hazards.hpp"

namespace vyre::run::cuda {

// The context must be the current one for as long as a capture lives.
class Capture {
 public:
  // The most calls that may run at the same time.
  static constexpr std::size_t kBranches = 4;

  explicit Capture(Context& context);
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;
  ~Capture() { destroy(); }

  // Returns the stream for a call that makes these accesses. In the graph, the call runs after all earlier calls with which it conflicts.
  CUstream stream_for(std::span<const MemoryAccess> accesses);
  // Ends the capture. The caller destroys the graph.
  CUgraph end();

 private:
  struct Branch {
    CUstream stream = nullptr;
    CUevent event = nullptr;
    bool forked = false;                                // whether the stream waits for the last join, and so is part of the capture
    std::uint64_t calls = 0;                            // how many calls were recorded on it
    HazardTracker since_join;                           // what these calls read and write
    std::array<std::uint64_t, kBranches> waited_for{};  // by branch: how many of its calls this branch waits for
  };
  CUevent new_event() const;
  void record(CUevent event, const Branch& branch) const;
  void wait(const Branch& branch, CUevent event) const;
  // Makes calls recorded on `later` from now on run after all calls that `earlier` has.
  void order(Branch& earlier, Branch& later);
  // Makes all calls recorded from now on run after all calls recorded until now.
  void join();
  // Prepares the branch for recording: makes its stream, and makes the stream wait for the last join.
  void fork(Branch& branch);
  Branch& branch_for(std::span<const MemoryAccess> accesses);
  void destroy() noexcept;

  Context& context_;
  std::array<Branch, kBranches> branches_;  // the capture began on the first one
  CUevent fork_ = nullptr;                  // recorded at the last join
  bool capturing_ = false;
};

}  // namespace vyre::run::cuda
