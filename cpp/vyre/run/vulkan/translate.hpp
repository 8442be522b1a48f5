// From a valid program to a shader: the one place where this backend meets the lowering and the emitter.
#pragma once

#include "vyre/run/vulkan/shader.hpp"
#include "vyre/validate/validate.hpp"

namespace vyre::run::vulkan {

// `check_loops` for a driver that ends loops without saying so. Throws LoweringError.
Shader translate(const validate::ValidProgram& program, bool check_loops, bool optimize = true);

}  // namespace vyre::run::vulkan
