// Turns a valid program into a shader. Only this file uses the lowering and the emitter for programs.
#pragma once

#include <cstdint>
#include <optional>

#include "vyre/run/backend.hpp"
#include "vyre/run/vulkan/compile/shader.hpp"
#include "vyre/validate/validate.hpp"

namespace vyre::run::vulkan {

// The properties of a device that decide what is emitted.
struct Target {
  // The number of rounds after which the driver silently ends loops. A shader that may need more rounds reports when a loop was ended
  // early.
  std::optional<std::uint32_t> loop_budget = std::nullopt;
  // Whether arrays are reached by address, for arrays that the device cannot bind.
  bool addresses = false;
  // Whether it accesses elements of 8 and of 16 bits itself.
  bool accesses_8_bits = false, accesses_16_bits = false;
};

// Throws LoweringError.
Shader translate(const validate::ValidProgram& program, const Target& target, const Optimize& options = {});
// Whether the program is proven to need at most that many loop rounds for any input. Throws LoweringError.
bool proven_within(std::uint32_t loop_budget, const validate::ValidProgram& program, const Optimize& options);

// A shader whose workgroups do the work of `ways` workgroups along x each. Nothing for a program that cannot be coarsened, or whose loops
// the driver might then end early.
std::optional<Shader> translate_coarsened(const validate::ValidProgram& program, std::uint32_t ways, const Target& target,
                                          const Optimize& options = {});

}  // namespace vyre::run::vulkan
