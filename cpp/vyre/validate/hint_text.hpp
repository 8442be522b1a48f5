// Declares what the files of Hints share to fill the sentences of the HINT rows of rules.def.
#pragma once

#include <array>
#include <cstddef>
#include <string>

#include "vyre/ir/data_type.hpp"
#include "vyre/validate/gathered.hpp"
#include "vyre/validate/rules.hpp"

namespace vyre::validate {

// Returns the hint's sentence with a value in each of its places.
template <Hint hint, class... Values>
std::string say(const Values&... values) {
  static_assert(places(info(hint).sentence) == sizeof...(Values));
  const std::array<std::string, sizeof...(Values)> texts{std::string(values)...};
  return filled(info(hint).sentence, texts);
}

// Returns the type, or U32 if it is not known.
inline ir::DataType or_u32(ir::DataType type) { return known(type) ? type : ir::DataType::U32; }

}  // namespace vyre::validate
