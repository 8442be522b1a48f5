// Holds a running workgroup: its id and its own memory, and for each invocation its private memory, the slots that it keeps at a barrier,
// and the address where it waits.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "vyre/ir/program.hpp"
#include "vyre/run/reference/machine.hpp"

namespace vyre::run::reference {

using Triple = std::array<std::uint32_t, 3>;

// The inputs of a dispatch. All must outlive it.
struct Job {
  const ir::Program& program;
  const Code& code;
  const std::vector<Memory>& memory;  // by BufferId; Workgroup and Private buffers have only their length here
  Grid grid;

  // The invocations of a workgroup. The caller has checked that there are at most 2^16.
  std::uint32_t invocations() const {
    const ir::WorkgroupSize& size = program.workgroup_size();
    return size[0] * size[1] * size[2];
  }
};

Triple local_id(std::uint32_t invocation, const ir::WorkgroupSize& size);

class Group {
 public:
  explicit Group(const Job& job);

  // Starts workgroup `id`, with zeroed memory and every invocation at the program's start.
  void start(const Triple& id);

  const Triple& id() const { return id_; }
  const Memory* memory() const { return memory_.data(); }
  const Memory& memory(std::size_t buffer) const { return memory_[buffer]; }
  std::uint64_t bytes() const { return own_bytes_ + kept_.size() * sizeof(std::uint32_t) + stops_.size() * sizeof(Address); }
  // The size of the Workgroup buffers, and of the Private buffers of all invocations.
  std::uint64_t own_bytes() const { return own_bytes_; }

  // Switches memory() to the Private buffers of this invocation. Must be called before the invocation runs, each time that another one ran.
  void enter(std::uint32_t invocation) {
    for (const Private& each : privates_) memory_[each.buffer].bytes = private_.data() + each.first + each.bytes * invocation;
  }
  // Restores the invocation's slots, and returns the address at which it goes on.
  Address resume(std::uint32_t invocation, std::uint32_t* slots) const;
  // Records that the invocation waits at, or has ended at, `stop`. Its slots are kept only if the program has barriers.
  void suspend(std::uint32_t invocation, const std::uint32_t* slots, Address stop);

  // Whether the invocations wait at a barrier and can go on. Valid if all of them are suspended and they have not diverged.
  bool waits() const { return job_.code.barriers && waits(stops_.front()); }
  // Whether some invocations wait at a barrier, and others wait at another one or have ended. A barrier waits for the whole
  // workgroup (docs/semantics.md, Barriers are reached by all).
  bool diverged() const { return first_apart() != 0; }
  // Throws a DivergentBarrierError that names two invocations which are not at the same barrier.
  [[noreturn]] void throw_diverged() const;
  const std::vector<Address>& stops() const { return stops_; }
  // Lets all invocations go on past the barrier where they wait.
  void pass_barrier() { started_ = true; }

 private:
  bool waits(Address stop) const { return job_.code.instructions[stop].code == Opcode::Barrier; }
  // The first invocation that stopped elsewhere than invocation 0, where one of the two waits at a barrier; 0 if there is none.
  std::uint32_t first_apart() const;

  const Job& job_;
  Triple id_{};
  bool started_ = false;  // invocations go on after their stops; otherwise from the start
  std::vector<Memory> memory_;
  std::vector<std::vector<std::byte>> shared_;
  // The place of one Private buffer in private_: from `first` on, an array of `bytes` bytes for each invocation.
  struct Private {
    std::size_t buffer, first, bytes;
  };
  std::vector<Private> privates_;
  std::vector<std::byte> private_;
  std::uint64_t own_bytes_ = 0;
  std::vector<Address> stops_;
  std::vector<std::uint32_t> kept_;
};

}  // namespace vyre::run::reference
