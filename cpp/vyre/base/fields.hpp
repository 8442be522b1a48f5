// The fields of a plain struct, one by one and in order, so that a walk over them is written once for all structs.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

namespace vyre {
namespace detail {

struct AnyField {
  template <class Field>
  operator Field() const;  // declared only: field_count asks whether it compiles
};

// The largest number of initializers that the struct takes.
template <class Struct, class... Fields>
consteval std::size_t field_count() {
  if constexpr (requires { Struct{Fields{}..., AnyField{}}; }) {
    return field_count<Struct, Fields..., AnyField>();
  } else {
    return sizeof...(Fields);
  }
}

}  // namespace detail

// Calls visit(field) for each field in the order of declaration. `object` is an aggregate of at most four fields without arrays or
// base classes; when it is not const, `visit` may change the fields.
template <class Struct, class Visit>
constexpr void for_each_field(Struct& object, Visit&& visit) {
  constexpr std::size_t count = detail::field_count<std::remove_const_t<Struct>>();
  static_assert(count <= 4);
  if constexpr (count == 1) {
    auto& [a] = object;
    visit(a);
  } else if constexpr (count == 2) {
    auto& [a, b] = object;
    visit(a);
    visit(b);
  } else if constexpr (count == 3) {
    auto& [a, b, c] = object;
    visit(a);
    visit(b);
    visit(c);
  } else if constexpr (count == 4) {
    auto& [a, b, c, d] = object;
    visit(a);
    visit(b);
    visit(c);
    visit(d);
  }
}

}  // namespace vyre
