// The functions of by_type.def. A handle calls one by its name, which has no dot and so is no operation's; resolve() puts the operation
// in its place, so that a Program calls operations alone.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "vyre/ir/data_type.hpp"

namespace vyre::ir {

struct ByType {
  struct Choice {
    std::string_view function;
    DataType type;
    std::string_view operation;
  };

  std::string_view name;
  std::size_t typed;
  std::string_view parameters, meaning;
  std::span<const Choice> choices;

  // The operation on `type`; without a type, or with one that has none, the first there is.
  constexpr std::string_view operation(std::optional<DataType> type) const {
    const auto found = std::ranges::find_if(choices, [&](const Choice& each) { return each.type == type; });
    return (found != choices.end() ? *found : choices.front()).operation;
  }
};

inline constexpr std::array kChoices = {
#define CHOOSES(function, type, operation) ByType::Choice{function, DataType::type, operation},
#include "vyre/ir/handles/by_type.def"
};

// The rows of a function, which stand together.
constexpr std::span<const ByType::Choice> choices(std::string_view function) {
  const auto is_of = [&](const ByType::Choice& each) { return each.function == function; };
  const auto first = std::ranges::find_if(kChoices, is_of);
  return {first, std::find_if_not(first, kChoices.end(), is_of)};
}

inline constexpr std::array kByType = {
#define BY_TYPE(name, typed, parameters, meaning) ByType{name, typed, parameters, meaning, choices(name)},
#include "vyre/ir/handles/by_type.def"
};

constexpr const ByType* find_by_type(std::string_view name) {
  const auto row = std::ranges::find(kByType, name, &ByType::name);
  return row == kByType.end() ? nullptr : &*row;
}

}  // namespace vyre::ir
