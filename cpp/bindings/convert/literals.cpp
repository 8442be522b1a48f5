#include "bindings/convert/literals.hpp"

#include <fmt/format.h>

#include <vector>

#include "bindings/convert/convert.hpp"
#include "bindings/resident.hpp"
#include "vyre/base/error.hpp"
#include "vyre/ops/body.hpp"

namespace vyre::python {
namespace {

using ir::DataType;

struct Constructor {
  DataType type;
  const char* fix;  // for a number that the type does not hold
  const char* documentation;
};

constexpr Constructor kConstructors[] = {
    {DataType::U32, "write Expr.i32(v) for a signed literal, Expr.u64(v) for a 64-bit one",
     R"(u32(value) -> Expr

A U32 literal, 0 to 2^32 - 1. A plain integer in an expression means the same.

>>> vyre.Expr.u32(7)
Expr(7))"},
    {DataType::I32, "write Expr.u32(v) for a larger literal",
     R"(i32(value) -> Expr

An I32 literal, -2^31 to 2^31 - 1. Operators on it take their signed meaning.

>>> vyre.Expr.i32(-7)
Expr(i32(-7)))"},
    {DataType::Bool, "",
     R"(bool(value) -> Expr

A Bool literal: True or False.

>>> vyre.Expr.bool(True)
Expr(True))"},
    {DataType::U64, "",
     R"(u64(value) -> Expr

A U64 literal, 0 to 2^64 - 1. 64-bit arithmetic is the operations primitive.u64.*.

>>> vyre.Expr.u64(2**40)
Expr(u64(1099511627776)))"},
};

std::uint32_t bits_of(DataType element) { return 8 * element_type(element).bytes; }
bool is_signed(DataType element) { return element_type(element).kind == 'i'; }

bool fits(DataType element, py::handle integer) {
  if (!has_integers(element)) return false;
  const py::int_ number = to_int(integer);
  const std::uint32_t bits = bits_of(element);
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
  if (overflow < 0) return false;
  if (is_signed(element)) return overflow == 0 && value >> (bits - 1) == (value < 0 ? -1 : 0);
  if (overflow == 0) return value >= 0 && (bits == 64 || value >> bits == 0);
  PyLong_AsUnsignedLongLong(number.ptr());
  const bool in_range = bits == 64 && PyErr_Occurred() == nullptr;
  PyErr_Clear();
  return in_range;
}

std::string range_of(DataType element) {
  const std::uint64_t last = ~std::uint64_t{0} >> (64 - bits_of(element) + (is_signed(element) ? 1 : 0));
  return is_signed(element) ? fmt::format("-{} to {}", last + 1, last) : fmt::format("0 to {}", last);
}

}  // namespace

bool holds(DataType element, py::handle number) {
  if (ir::info(element).kind == ir::TypeKind::Boolean) return is_boolean(number);
  return is_integer(number) && fits(element, number);
}

std::string numbers_of(DataType element) {
  if (ir::info(element).kind == ir::TypeKind::Boolean) return "True, False";
  return fmt::format("an integer from {}", range_of(element));
}

py::object to_python(const ir::Value& value, DataType type) {
  const ir::TypeInfo& row = ir::info(type);
  const auto& lanes = value.lanes;
  if (ir::is_vector(type)) {
    py::tuple result(row.components);
    for (std::size_t lane = 0; lane < row.components; ++lane) result[lane] = py::int_(lanes[lane]);
    return result;
  }
  switch (row.kind) {
    case ir::TypeKind::Signed:
      return py::int_(static_cast<std::int32_t>(lanes[0]));
    case ir::TypeKind::Boolean:
      return py::bool_(lanes[0] != 0);
    case ir::TypeKind::Unsigned:
    case ir::TypeKind::Opaque:
      break;
  }
  return py::int_(row.lanes == 2 ? lanes[0] | std::uint64_t{lanes[1]} << 32 : lanes[0]);
}

ir::Value to_value(py::handle object, DataType type, const std::string& where, const std::string& fix) {
  const ir::TypeInfo& row = ir::info(type);
  if (ir::is_vector(type)) {
    const std::string wanted = fmt::format("{} integers", row.components);
    const std::vector<py::object> items = to_list(object, where, wanted, "write a tuple of its lanes");
    if (items.size() != row.components) reject(where, wanted, object, "write a tuple of its lanes");
    ir::Value value;
    for (std::size_t lane = 0; lane < items.size(); ++lane) value.lanes[lane] = to_u32(items[lane], where);
    return value;
  }
  switch (row.kind) {
    case ir::TypeKind::Unsigned:
      return row.lanes == 1 ? ir::scalar(to_u32(object, where, fix)) : ops::u64(to_unsigned(object, ~std::uint64_t{0}, where, fix));
    case ir::TypeKind::Signed:
      return ir::scalar(static_cast<std::uint32_t>(to_signed(object, -0x80000000ll, 0x7FFFFFFFll, where, fix)));
    case ir::TypeKind::Boolean:
      return ir::scalar(to_bool(object, where) ? 1 : 0);
    case ir::TypeKind::Opaque:
      break;
  }
  throw ArgumentError(fmt::format("{} has type Bytes, which is no value. Fix: use another type in the signature.", where));
}

void bind_literals(py::class_<PyExpr>& expr) {
  for (const Constructor& row : kConstructors) {
    expr.def_static(
        ir::text(row.type).data(),
        [&row](py::handle given) {
          const std::string function = fmt::format("Expr.{}", ir::text(row.type)), where = fmt::format("argument `value` of {}", function);
          // A literal takes a constant. An expression needs a cast instead.
          if (ir::has_integers(row.type) && py::isinstance<PyExpr>(given)) {
            reject(where, "an integer", given, fmt::format("write Expr.cast(DataType.{}, value)", ir::name(row.type)));
          }
          const ir::Value value = to_value(given, row.type, where, row.fix);
          return PyExpr{ir::expr::literal({row.type, value.lanes[0], value.lanes[1]}, caller())};
        },
        py::arg("value"), row.documentation);
  }
}

}  // namespace vyre::python
