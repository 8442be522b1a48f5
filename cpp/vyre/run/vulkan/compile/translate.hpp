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
  // Whether the shader reaches arrays through addresses instead of bindings, for arrays that are too large to be bound.
  bool addresses = false;
  // Whether the device accesses elements of 8 and of 16 bits directly. If not, the shader accesses whole words.
  bool accesses_8_bits = false, accesses_16_bits = false;
  // Whether shaders may have integers of 64 bits.
  bool integers_64_bits = false;
};

// Throws LoweringError.
Shader translate(const validate::ValidProgram& program, const Target& target, const Optimize& options = {});
// Whether the program is proven to need at most that many loop rounds for any input. Throws LoweringError.
bool proven_within(std::uint32_t loop_budget, const validate::ValidProgram& program, const Optimize& options);

// Returns a shader in which each workgroup does the work of `ways` workgroups along x. Returns nothing if the program cannot be coarsened,
// or if the driver might end the loops of the coarsened program early.
std::optional<Shader> translate_coarsened(const validate::ValidProgram& program, std::uint32_t ways, const Target& target,
                                          const Optimize& options = {});

}  // namespace vyre::run::vulkan
