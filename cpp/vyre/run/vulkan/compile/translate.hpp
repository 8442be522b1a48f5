// From a valid program to a shader: the one place where this backend meets the lowering and the emitter.
#pragma once

#include <cstdint>
#include <optional>

#include "vyre/run/backend.hpp"
#include "vyre/run/vulkan/compile/shader.hpp"
#include "vyre/validate/validate.hpp"

namespace vyre::run::vulkan {

// What a shader is made for.
struct Target {
  // The number of rounds after which the driver silently ends loops. A shader that may need more rounds reports when a loop was ended
  // early.
  std::optional<std::uint32_t> loop_budget = std::nullopt;
  // For arrays that the device cannot bind.
  bool addresses = false;
};

// Throws LoweringError.
Shader translate(const validate::ValidProgram& program, const Target& target, const Optimize& options = {});
// Whether the program is proven to need no more loop rounds than that, whatever it is given. Throws LoweringError.
bool proven_within(std::uint32_t loop_budget, const validate::ValidProgram& program, const Optimize& options);

// The shader of which a workgroup does the work of `ways` workgroups along x; nothing for a program that cannot be coarsened, or
// whose loops might be ended then.
std::optional<Shader> translate_coarsened(const validate::ValidProgram& program, std::uint32_t ways, const Target& target,
                                          const Optimize& options = {});

}  // namespace vyre::run::vulkan
