// A grid cut into batches of invocations, and the ids of each.
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
  // The lanes of the largest.
  std::size_t capacity() const { return capacity_; }

  // What is the same in all batches.
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
  std::uint64_t total_;  // invocations, or workgroups when a batch is one
  std::uint64_t count_;
};

}  // namespace vyre::run::cpu
