// Cuts a grid into batches of invocations, and fills in the ids of each batch.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "vyre/run/backend.hpp"
#include "vyre/run/cpu/machine.hpp"

namespace vyre::run::cpu {

class Batches {
 public:
  // None of the grid's counts is zero.
  Batches(const Code& code, const lower::Kernel& kernel, Grid grid);

  std::uint64_t count() const { return count_; }
  // The number of lanes in the largest batch.
  std::size_t capacity() const { return capacity_; }

  // Fills in the ids that are the same in all batches.
  void prepare(Machine& machine) const;
  // Runs batch `index`.
  void run(Machine& machine, std::uint64_t index) const;

 private:
  using Ids = std::array<std::uint32_t, 3>;

  void run_workgroup(Machine& machine, std::uint64_t index) const;
  void run_invocations(Machine& machine, std::uint64_t index) const;

  const Code& code_;
  Ids size_;
  std::array<std::uint64_t, 3> invocations_;  // along each axis
  Ids groups_;
  std::size_t capacity_;
  std::uint64_t total_;  // the number of invocations, or of workgroups when a batch is a workgroup
  std::uint64_t count_;
};

}  // namespace vyre::run::cpu
