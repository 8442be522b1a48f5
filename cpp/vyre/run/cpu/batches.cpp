#include "vyre/run/cpu/batches.hpp"

#include <algorithm>
#include <bit>

namespace vyre::run::cpu {
namespace {

using lower::Opcode;

// The product of the counts, or 2^63 when it is larger: a run of this many invocations never ends, so larger numbers need not be exact.
std::uint64_t product(std::array<std::uint64_t, 3> counts) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 63;
  std::uint64_t result = 1;
  for (const std::uint64_t count : counts) result = result > kMost / count ? kMost : result * count;
  return result;
}

// The number of lanes in a batch: few enough for its registers and private arrays to stay in the processor's nearer caches, and enough for
// an instruction to be worth its dispatch.
std::size_t tile(const Code& code) {
  constexpr std::size_t kCache = std::size_t{96} << 10, kMost = 512, kLeast = 64;
  return std::clamp(std::bit_floor(kCache / sizeof(Word) / std::max<std::size_t>(code.vectors + code.private_words, 1)), kLeast, kMost);
}

}  // namespace

Batches::Batches(const Code& code, const lower::Kernel& kernel, Grid grid)
    : code_(code), size_(kernel.workgroup_size), groups_{grid.x, grid.y, grid.z} {
  for (std::size_t axis = 0; axis < 3; ++axis) invocations_[axis] = std::uint64_t{groups_[axis]} * size_[axis];
  if (code.whole_workgroups) {
    capacity_ = std::size_t{size_[0]} * size_[1] * size_[2];
    total_ = count_ = product({groups_[0], groups_[1], groups_[2]});
  } else {
    total_ = product(invocations_);
    capacity_ = static_cast<std::size_t>(std::min<std::uint64_t>(tile(code), total_));
    count_ = (total_ - 1) / capacity_ + 1;
  }
}

void Batches::prepare(Machine& machine) const {
  for (const IdRegister& id : code_.ids) {
    if (id.id != Opcode::LocalId) continue;
    if (is_scalar(id.reg)) {
      machine.scalar(id.reg) = 0;  // the axis has one invocation
    } else if (code_.whole_workgroups) {
      Word* const words = machine.vector(id.reg);
      // This many consecutive lanes have the same id on this axis.
      const std::uint32_t before = id.axis == 0 ? 1 : id.axis == 1 ? size_[0] : size_[0] * size_[1];
      for (std::size_t lane = 0; lane < capacity_; ++lane) words[lane] = static_cast<Word>(lane / before % size_[id.axis]);
    }
  }
  // In a workgroup that is one row along x, the ids along x rise by one from lane to lane.
  const bool line = code_.whole_workgroups && size_[1] == 1 && size_[2] == 1;
  machine.set_rows(line, line);
}

void Batches::run(Machine& machine, std::uint64_t index) const {
  if (code_.whole_workgroups) {
    run_workgroup(machine, index);
  } else {
    run_invocations(machine, index);
  }
}

void Batches::run_workgroup(Machine& machine, std::uint64_t index) const {
  const Ids group = {static_cast<Word>(index % groups_[0]), static_cast<Word>(index / groups_[0] % groups_[1]),
                     static_cast<Word>(index / groups_[0] / groups_[1])};
  for (const IdRegister& id : code_.ids) {
    if (id.id == Opcode::LocalId) continue;
    if (is_scalar(id.reg)) {
      machine.scalar(id.reg) = group[id.axis];  // also the invocation's id when the axis has one invocation
      continue;
    }
    Word* const words = machine.vector(id.reg);
    const Word first = group[id.axis] * size_[id.axis];
    if (size_[id.axis] == capacity_) {
      machine.count_up(id.reg, first, capacity_);
      continue;
    }
    const std::uint32_t before = id.axis == 0 ? 1 : id.axis == 1 ? size_[0] : size_[0] * size_[1];
    for (std::size_t lane = 0; lane < capacity_; ++lane) words[lane] = first + static_cast<Word>(lane / before % size_[id.axis]);
  }
  machine.clear_shared();
  machine.run(capacity_);
}

// Takes invocations in the order of their global ids, x first: then neighbours in a batch are neighbours in memory for most programs,
// whatever the workgroup's shape.
void Batches::run_invocations(Machine& machine, std::uint64_t index) const {
  const std::uint64_t first = index * capacity_;
  const auto lanes = static_cast<std::size_t>(std::min<std::uint64_t>(capacity_, total_ - first));
  std::array<std::uint64_t, 3> start{};
  start[0] = first % invocations_[0];
  start[1] = first / invocations_[0] % invocations_[1];
  start[2] = first / invocations_[0] / invocations_[1];
  const bool within_row = lanes <= invocations_[0] - start[0];
  machine.set_rows(within_row, false);
  for (const IdRegister& id : code_.ids) {
    if (is_scalar(id.reg)) continue;
    if (within_row && id.axis == 0 && id.id == Opcode::InvocationId) {
      machine.count_up(id.reg, static_cast<Word>(start[0]), lanes);
      continue;
    }
    Word* const words = machine.vector(id.reg);
    const std::uint32_t size = size_[id.axis];
    const auto value = [&](std::uint64_t global) {
      if (id.id == Opcode::InvocationId) return static_cast<Word>(global);
      return static_cast<Word>(id.id == Opcode::WorkgroupId ? global / size : global % size);
    };
    std::array<std::uint64_t, 3> at = start;
    for (std::size_t lane = 0; lane < lanes;) {
      // The lanes up to the end of the row.
      const auto row = static_cast<std::size_t>(std::min<std::uint64_t>(lanes - lane, invocations_[0] - at[0]));
      if (id.axis != 0) {
        std::fill_n(words + lane, row, value(at[id.axis]));
      } else if (id.id == Opcode::InvocationId) {
        for (std::size_t k = 0; k < row; ++k) words[lane + k] = static_cast<Word>(at[0] + k);
      } else {
        for (std::size_t k = 0; k < row; ++k) words[lane + k] = value(at[0] + k);
      }
      lane += row;
      at[0] = 0;
      if (++at[1] == invocations_[1]) {
        at[1] = 0;
        ++at[2];
      }
    }
  }
  machine.run(lanes);
}

}  // namespace vyre::run::cpu
