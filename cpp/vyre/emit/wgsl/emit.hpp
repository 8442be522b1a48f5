// Emits a Kernel as readable WGSL text, the same for equal kernels. emit/interface.hpp describes the interface of the shader.
#pragma once

#include <string>

#include "vyre/lower/kernel.hpp"

namespace vyre::wgsl {

std::string emit(const lower::Kernel& kernel);

}  // namespace vyre::wgsl
