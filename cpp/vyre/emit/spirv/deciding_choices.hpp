// Finds choices between two values that decide a branch. NVIDIA's compiler (driver 580) decides for each of the values by itself, and where
// one was compared in front of it, may leave out what stands behind the branch: `a[i] = 1; a[select(c, i, j)] = b[0]; a[i] = 2` with a `j`
// that is out of range left 1 in `a[i]`. A short If that only assigns variables becomes such a Select in that compiler.
// The PTX emitter hides the same choices from ptxas where it checks an index (emit/ptx/memory.cpp).
#pragma once

#include <vector>

#include "vyre/emit/places.hpp"
#include "vyre/lower/kernel.hpp"

namespace vyre::emit {

// Returns for each instruction whether a branch depends on it or on what it is compared with, and it is a Select between values that are
// not constant, or reads a variable of a kernel that may have short Ifs, or is a lane of one of these. The list is empty if there is none.
std::vector<bool> deciding_choices(const lower::Kernel& kernel, const Opcodes& opcodes, bool may_have_short_ifs);

}  // namespace vyre::emit
