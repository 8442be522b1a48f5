// Holds the arrays of a call of out = a ^ b, in the host's memory, for tests of what happens around a call.
#pragma once

#include <cstdint>

#include "support/words.hpp"
#include "vyre/run/backend.hpp"

namespace vyre::test {

struct Arrays {
  Words a, b, out;
  explicit Arrays(std::uint32_t n) : a(counted(n, 3)), b(counted(n, 5)), out(n, 9) {}
  // Runs it in workgroups of 64.
  void run(run::Executable& executable, const run::RunOptions& options = {}) {
    const run::BufferView views[] = {view(a), view(b), view(out)};
    executable.run(views, {(static_cast<std::uint32_t>(a.size()) + 63) / 64, 1, 1}, options);
  }
  bool untouched() const {
    const std::size_t n = a.size();
    return a == counted(n, 3) && b == counted(n, 5) && out == Words(n, 9);
  }
  bool right() const { return out == xor_of(a, b); }
};

}  // namespace vyre::test
