// Shrinks a case that shows a fault to a small case that still shows it.
#pragma once

#include <functional>

#include "vyre/fuzz/case.hpp"

namespace vyre::fuzz {

struct Reduced {
  Case smallest;
  std::uint32_t tries = 0;  // how often `still_fails` was asked
};

// `still_fails` is asked about valid programs only (V010 aside, if the first one breaks it); it must not change its mind. Calls,
// statements, branches, frames, expressions, literals, buffers, sizes and the host's bytes are made fewer or smaller until nothing more
// goes or `tries` are used up. The same input gives the same result.
Reduced reduce(const Case& first, const std::function<bool(const Case&)>& still_fails, const ir::OpTable& ops, std::uint32_t tries = 5000);

}  // namespace vyre::fuzz
