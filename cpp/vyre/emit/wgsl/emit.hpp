// Kernel -> WGSL text: readable, the same bytes, and runnable wherever WGSL is. The interface is written down in emit/interface.hpp.
#pragma once

#include <string>

#include "vyre/lower/kernel.hpp"

namespace vyre::wgsl {

std::string emit(const lower::Kernel& kernel);

}  // namespace vyre::wgsl
