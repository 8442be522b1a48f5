// The functions of by_type.def. A handle calls one by its name, which has no dot and so is no operation's; resolve() puts the operation
// in its place, so that a Program calls operations alone.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

#include "vyre/ir/data_type.hpp"

namespace vyre::ir {

struct ByType {
  struct Row {
    DataType type;
    std::string_view operation;
  };

  std::string_view name;
  std::size_t typed;
  std::array<Row, 4> rows;
  std::string_view parameters, meaning;

  // The operation on `type`; without a type, or with one that has none, the first there is.
  constexpr std::string_view operation(std::optional<DataType> type) const {
    const auto fits = [&](const Row& row) { return row.type == type && !row.operation.empty(); };
    if (const auto found = std::ranges::find_if(rows, fits); found != rows.end()) return found->operation;
    return std::ranges::find_if(rows, [](const Row& row) { return !row.operation.empty(); })->operation;
  }
};

inline constexpr std::array kByType = {
#define BY_TYPE(name, typed, u32, i32, u64, vec4, parameters, meaning) \
  ByType{name, typed, {{{DataType::U32, u32}, {DataType::I32, i32}, {DataType::U64, u64}, {DataType::Vec4U32, vec4}}}, parameters, meaning},
#include "vyre/ir/by_type.def"
};

constexpr const ByType* find_by_type(std::string_view name) {
  const auto row = std::ranges::find(kByType, name, &ByType::name);
  return row == kByType.end() ? nullptr : &*row;
}

}  // namespace vyre::ir
