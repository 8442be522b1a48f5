// Finds which values of a kernel are the same in all lanes of a batch, and where the lanes may have diverged.
#pragma once

#include <cstdint>
#include <vector>

#include "vyre/lower/kernel.hpp"

namespace vyre::run::cpu {

// Which invocations run together.
enum class Batch : std::uint8_t {
  Any,        // any run of invocations
  Row,        // a part of a row of the grid along x
  Workgroup,  // a workgroup
};

struct Uniformity {
  bool whole_workgroups = false;      // a batch is a workgroup, because its invocations wait for each other or share memory
  std::vector<bool> varying;          // by instruction: its value may differ between lanes
  std::vector<bool> divergent;        // by instruction: some lanes may be inactive there
  std::vector<bool> variable_varies;  // by variable
  std::vector<bool> parted_by_break;  // by instruction: a Loop that some lanes may leave by a Break while others go on

  // An invalid id, which stands for an operand that the opcode lacks, does not vary.
  bool varies(lower::ValueId value) const { return value.valid() && varying[value.index]; }
  // Whether lanes may leave the Loop at different turns.
  bool parts_loop(std::uint32_t loop) const { return varying[loop] || parted_by_break[loop]; }
};

// Where the variable of a Loop is kept that lanes enter together and leave by Breaks.
enum class Turns : std::uint8_t {
  OfLanes,  // each lane has its own, so the Loop's value varies
  Shared,   // it is one word for all lanes, which is right because a lane that has left the Loop does not come back
};

Uniformity find_uniformity(const lower::Kernel& kernel, Batch batch, Turns turns);

// Whether invocations of the kernel wait for each other or share memory, so that a batch has to be a workgroup.
bool needs_whole_workgroups(const lower::Kernel& kernel);

}  // namespace vyre::run::cpu
