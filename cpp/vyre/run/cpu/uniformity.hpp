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
};

Uniformity find_uniformity(const lower::Kernel& kernel, Batch batch);

// Whether invocations of the kernel wait for each other or share memory, so that a batch has to be a workgroup.
bool needs_whole_workgroups(const lower::Kernel& kernel);

}  // namespace vyre::run::cpu
