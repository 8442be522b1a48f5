// From a valid program to a shader: the one place where this backend meets the lowering and the emitter.
#pragma once

#include <cstdint>
#include <optional>

#include "vyre/emit/spirv/emit.hpp"
#include "vyre/run/backend.hpp"
#include "vyre/run/vulkan/shader.hpp"
#include "vyre/validate/validate.hpp"

namespace vyre::run::vulkan {

// `check_loops` for a driver that ends loops without saying so, `addresses` for arrays that the device cannot bind. Throws LoweringError.
Shader translate(const validate::ValidProgram& program, const spirv::Options& emitting, const PrepareOptions& options = {});

// The shader of which a workgroup does the work of `ways` workgroups along x; nothing for a program that cannot be coarsened. For drivers
// that end no loops.
std::optional<Shader> translate_coarsened(const validate::ValidProgram& program, std::uint32_t ways, const spirv::Options& emitting,
                                          const PrepareOptions& options = {});

}  // namespace vyre::run::vulkan
