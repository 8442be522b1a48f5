// How a program spells what only handles have, operators and integers of Python, when handles are pickled: as calls of operations whose
// ids begin with NUL, which the id of an operation never holds.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "vyre/ir/handles/infix.hpp"

namespace vyre::ir::spelling {

inline constexpr std::string_view kInteger{"\0integer", 8};

inline std::string infix(Infix op) {
  using namespace std::string_literals;
  return "\0infix "s.append(info(op).function);
}

// The operator of an id that infix() gave.
inline std::optional<Infix> parse_infix(std::string_view id) {
  const auto row = std::ranges::find_if(kInfixes, [&](const InfixInfo& each) { return infix(each.op) == id; });
  return row == kInfixes.end() ? std::nullopt : std::optional(row->op);
}

}  // namespace vyre::ir::spelling
