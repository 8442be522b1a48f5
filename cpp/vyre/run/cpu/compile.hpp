// Compiles a kernel for the cpu backend's machine.
#pragma once

#include "vyre/run/cpu/code.hpp"

namespace vyre::run::cpu {

// Time and memory are linear in the kernel's size. Throws std::bad_alloc only.
Code compile(const lower::Kernel& kernel);

}  // namespace vyre::run::cpu
