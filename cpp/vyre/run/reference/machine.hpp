// One invocation: walks the code from where it is told to until it ends or waits at a barrier.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "vyre/run/backend.hpp"
#include "vyre/run/reference/code.hpp"

namespace vyre::run::reference {

// A buffer as the machine sees it. Lanes are read and written byte-wise: host arrays may lie at any address.
struct Memory {
  std::byte* bytes = nullptr;
  std::uint32_t length = 0;  // whole elements
};

// Ends a call that takes too long or that somebody interrupted. Looking at the clock is slow, so work is counted first.
class Watch {
 public:
  // `options` must outlive the watch.
  explicit Watch(const RunOptions& options) : options_(options), start_(std::chrono::steady_clock::now()) {}

  // Throws DispatchTimeoutError or Interrupted. `work` is about the number of instructions since the last call.
  void spend(std::uint64_t work) {
    if (work < left_) {
      left_ -= work;
    } else {
      look();
    }
  }

 private:
  static constexpr std::uint64_t kBetweenLooks = std::uint64_t{1} << 18;  // about a millisecond

  void look();

  const RunOptions& options_;
  std::chrono::steady_clock::time_point start_;
  std::uint64_t left_ = kBetweenLooks;
};

class Machine {
 public:
  // `memory` is indexed by BufferId. All three must outlive the machine.
  Machine(const Code& code, std::span<const Memory> memory, Watch& watch);

  // Starts at `at`; returns the address of the Barrier or End where it stopped.
  Address run(Address at);

  void set_ids(std::span<const std::uint32_t, kIdSlots> ids);
  // What must be kept while other invocations run.
  std::span<std::uint32_t> kept() { return std::span(slots_).first(code_.kept); }

 private:
  const Code& code_;
  std::span<const Memory> memory_;
  Watch& watch_;
  std::vector<std::uint32_t> slots_;
  std::vector<Address> calls_;  // where to go on after each open Call
};

}  // namespace vyre::run::reference
