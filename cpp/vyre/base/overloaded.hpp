// One lambda an alternative for std::visit; a forgotten alternative does not compile.
#pragma once

#include <type_traits>
#include <utility>
#include <variant>

namespace vyre {

template <class... Arms>
struct overloaded : Arms... {
  using Arms::operator()...;
};
// clang before 17 deduces nothing from an aggregate's braces.
template <class... Arms>
overloaded(Arms...) -> overloaded<Arms...>;

template <class Variant, class... Arms>
constexpr decltype(auto) match(Variant&& value, Arms&&... arms) {
  return std::visit(overloaded<std::decay_t<Arms>...>{std::forward<Arms>(arms)...}, std::forward<Variant>(value));
}

}  // namespace vyre
