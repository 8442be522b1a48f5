// The types as enumerators, with the facts of types.def.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "vyre/ir/access.hpp"
#include "vyre/ir/fwd.hpp"

namespace vyre::ir {

enum class DataType : std::uint8_t {
#define TYPE(enumerator, ...) enumerator,
#include "vyre/ir/types.def"
};

static_assert(kU32 == DataType::U32);

enum class TypeKind : std::uint8_t { Unsigned, Signed, Boolean, Opaque };

// The columns are described in types.def.
struct TypeInfo {
  DataType type;
  std::string_view name;  // "Vec2U32": how constructors and Fix sentences spell it
  std::uint32_t number;
  std::string_view text;  // "vec2<u32>": how messages and the text form spell it
  TypeKind kind;
  std::string_view kind_name;  // "Unsigned"
  DataType value;
  Extend extend;
  DataType component;
  std::uint32_t components;
  std::uint32_t bytes;
  std::uint32_t lanes;
  std::optional<std::uint32_t> literal;
  std::string_view wgsl;
  char numpy_kind;
  std::uint32_t numpy_bytes;
  std::string_view numpy;
  std::string_view also;
  std::string_view meaning;
};

inline constexpr std::array kTypes = {
#define TYPE(enumerator, number, text, kind, value, extend, component, components, bytes, lanes, literal, wgsl, numpy_kind, numpy_bytes, \
             numpy, also, meaning)                                                                                                       \
  TypeInfo{DataType::enumerator, #enumerator,         number,     text,  TypeKind::kind, #kind,   DataType::value,                       \
           Extend::extend,       DataType::component, components, bytes, lanes,          literal, wgsl,                                  \
           numpy_kind,           numpy_bytes,         numpy,      also,  meaning},
#include "vyre/ir/types.def"
};
static_assert([] {
  std::uint32_t position = 0;
  for (const TypeInfo& row : kTypes) {
    if (row.number != position++) return false;
  }
  return true;
}());

constexpr const TypeInfo& info(DataType type) { return kTypes[static_cast<std::size_t>(type)]; }
constexpr std::string_view text(DataType type) { return info(type).text; }
constexpr std::string_view name(DataType type) { return info(type).name; }
constexpr std::uint32_t lanes(DataType type) { return info(type).lanes; }
// Bytes one element takes in a buffer; 0 for Bytes, whose length is the host's.
constexpr std::uint32_t min_bytes(DataType type) { return info(type).bytes; }
// The type of the values that an element of a buffer loads as and stores.
constexpr DataType value_type(DataType element) { return info(element).value; }
// An element of 8 or 16 bits: a type of buffers only, which no value has.
constexpr bool is_narrow(DataType type) { return value_type(type) != type; }
// A type of literals, which numbers of procedures have too.
constexpr bool has_literals(DataType type) { return info(type).literal.has_value(); }
constexpr bool is_signed(DataType type) { return info(type).kind == TypeKind::Signed; }
// A value of several components, each a u32.
constexpr bool is_vector(DataType type) { return info(type).components > 1; }
// A type whose values, or whose elements, are single numbers.
constexpr bool has_numbers(DataType type) {
  return !is_vector(type) && (info(type).kind == TypeKind::Unsigned || info(type).kind == TypeKind::Signed);
}
std::optional<DataType> parse_type(std::string_view text);

}  // namespace vyre::ir
