// Rewrites programs so that they look different but must give the same bytes. This finds faults of a backend without a second backend.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "vyre/fuzz/case.hpp"

namespace vyre::fuzz {

enum class Rewrite : std::uint8_t {
#define REWRITE(enumerator, ...) enumerator,
#include "vyre/fuzz/rewrites.def"
};

struct RewriteInfo {
  Rewrite rewrite;
  std::string_view name, meaning, when;
};
inline constexpr std::array kRewrites = {
#define REWRITE(enumerator, name, meaning, when) RewriteInfo{Rewrite::enumerator, name, meaning, when},
#include "vyre/fuzz/rewrites.def"
};

// The case with one rewrite somewhere, chosen by the seed; nothing where the program has no place for it. Arrays follow their buffers.
std::optional<Case> rewrite(const Case& that, Rewrite how, std::uint64_t seed, const ir::OpTable& ops);

// With `count` rewrites of any kind, one after the other.
Case rewrite(const Case& that, std::uint32_t count, std::uint64_t seed, const ir::OpTable& ops);

}  // namespace vyre::fuzz
