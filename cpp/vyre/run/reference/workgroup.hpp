// One workgroup, from barrier to barrier: every invocation runs up to where it waits, then all of them go on.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "vyre/ir/program.hpp"
#include "vyre/run/reference/machine.hpp"

namespace vyre::run::reference {

class Workgroup {
 public:
  // All must outlive the workgroup.
  Workgroup(const ir::Program& program, const Code& code, Machine& machine, Watch& watch);

  // Throws DivergentBarrierError unless all invocations wait at the same barrier each time, or none does.
  void run(std::array<std::uint32_t, 3> id);

 private:
  void set_ids(std::uint32_t invocation, std::array<std::uint32_t, 3> id);
  void run_to_barriers(std::array<std::uint32_t, 3> id);
  void check_same_stop() const;

  const ir::Program& program_;
  const Code& code_;
  Machine& machine_;
  Watch& watch_;
  std::uint32_t invocations_;
  // With barriers only: of each invocation, where it stopped and what it keeps.
  std::vector<Address> stops_;
  std::vector<std::uint32_t> kept_;
};

}  // namespace vyre::run::reference
