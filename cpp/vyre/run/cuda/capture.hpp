// Records calls into a graph of the driver's, on several streams, so that calls that share nothing may run at once.
//
// A capture has a few branches, each a stream. A call is recorded on a branch with which it conflicts (gpu/hazards.hpp), after it waited
// for the other branches with which it does; a call that conflicts with none goes to the branch with the fewest calls. So calls that depend
// on each other stay one chain, in which no event costs time.
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
  // So many calls may run at once.
  static constexpr std::size_t kBranches = 4;

  explicit Capture(Context& context);
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;
  ~Capture() { destroy(); }

  // The stream for a call that reads and writes these ranges. The call comes after all calls before with which it conflicts.
  CUstream stream_for(std::span<const MemoryAccess> accesses);
  // Ends the capture. The caller destroys the graph.
  CUgraph end();

 private:
  struct Branch {
    CUstream stream = nullptr;
    CUevent event = nullptr;
    bool forked = false;       // whether it has joined the capture, and comes after the last point at which all branches met
    std::uint64_t calls = 0;   // that were recorded on it
    HazardTracker since_join;  // what these calls read and write
    std::array<std::uint64_t, kBranches> waited_for{};  // calls of each other branch
  };
  CUevent new_event() const;
  void record(CUevent event, const Branch& branch) const;
  void wait(const Branch& branch, CUevent event) const;
  // Makes what is recorded on a branch from now on come after all that the other has.
  void order(Branch& first, Branch& then);
  // Makes all that is recorded from now on come after all that was recorded until now.
  void join();
  // The branch is recorded on next. Makes its stream first.
  void fork(Branch& branch);
  Branch& branch_for(std::span<const MemoryAccess> accesses);
  void destroy() noexcept;

  Context& context_;
  std::array<Branch, kBranches> branches_;  // the first one is that on which the capture began
  CUevent fork_ = nullptr;                  // the last point at which all branches met
  bool capturing_ = false;
};

}  // namespace vyre::run::cuda
