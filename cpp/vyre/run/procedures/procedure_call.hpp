// Plans and runs valid procedures, as Backend::prepare and Executable::run prepare and run valid programs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "vyre/run/procedures/procedure.hpp"
#include "vyre/validate/procedures/valid_procedure.hpp"

namespace vyre::run {

// An array of the host, in the layout of buffers; the shape has no axis for a vector's lanes.
struct HostArray {
  Shape shape;
  std::vector<std::byte> bytes;
};

// Plans for inputs and in_outs of these shapes, in the order of ir::Procedure::interface(), and for these numbers. Numbers that are not
// structural (structural_numbers) may have other values when the plan is submitted. Throws BindingError for shapes and ArgumentError for
// numbers that the procedure does not take, and what PlannedProcedure's constructor, which takes `operation`, throws.
std::shared_ptr<PlannedProcedure> plan(const validate::ValidProcedure& procedure, std::span<const Shape> shapes,
                                       std::span<const std::uint64_t> numbers, Backend& backend, std::size_t device = 0,
                                       const RunOptions& waiting = {}, const ir::OpSpec* operation = nullptr);

// Plans and runs once, on copies of the arrays. Gives the in_outs and outputs, in the order of the interface. Throws what `plan` and
// PlannedProcedure::submit throw, BindingError for an array whose size in bytes does not match its shape, and DeviceError while the device
// works on a call that timed out or was interrupted, as Executable::run does.
std::vector<HostArray> run(const validate::ValidProcedure& procedure, std::span<const HostArray> arrays,
                           std::span<const std::uint64_t> numbers, Backend& backend, std::size_t device = 0,
                           const RunOptions& options = {});

}  // namespace vyre::run
