#include <fmt/format.h>

#include <vector>

#include "bindings/convert/convert.hpp"
#include "vyre/base/error.hpp"
#include "vyre/ir/data_type.hpp"

namespace vyre::python {
namespace {

using ir::DataType;

struct Constructor {
  DataType type;
  const char* documentation;
};

constexpr Constructor kConstructors[] = {
    {DataType::U32,
     R"(u32(value) -> Expr

A U32 literal, 0 to 2^32 - 1. A plain integer in an expression means the same.

>>> vyre.Expr.u32(7)
Expr(7))"},
    {DataType::I32,
     R"(i32(value) -> Expr

An I32 literal, -2^31 to 2^31 - 1. Operators on it take their signed meaning.

>>> vyre.Expr.i32(-7)
Expr(i32(-7)))"},
    {DataType::Bool,
     R"(bool(value) -> Expr

A Bool literal: True or False.

>>> vyre.Expr.bool(True)
Expr(True))"},
    {DataType::U64,
     R"(u64(value) -> Expr

A U64 literal, 0 to 2^64 - 1. 64-bit arithmetic is the operations primitive.u64.*.

>>> vyre.Expr.u64(2**40)
Expr(u64(1099511627776)))"},
};

}  // namespace

bool holds(DataType element, py::handle number) {
  if (ir::info(element).kind == ir::TypeKind::Boolean) return is_boolean(number);
  const std::optional<ir::Number> value = to_number(number);
  return value && value->fits(element);
}

std::string numbers_of(DataType element) {
  if (ir::info(element).kind == ir::TypeKind::Boolean) return "True, False";
  return fmt::format("an integer from {}", ir::range_text(element));
}

py::object to_python(const ir::Value& value, DataType type) {
  const ir::TypeInfo& row = ir::info(type);
  const auto& lanes = value.lanes;
  if (ir::is_vector(type)) {
    py::tuple result(row.components);
    for (std::size_t lane = 0; lane < row.components; ++lane) result[lane] = py::int_(lanes[lane]);
    return result;
  }
  if (row.kind == ir::TypeKind::Boolean) return py::bool_(lanes[0] != 0);
  return to_python(ir::Number::of(ir::Literal{type, lanes[0], row.lanes == 2 ? lanes[1] : 0}));
}

py::object to_python(const ir::Number& number) {
  return number.negative ? py::int_(static_cast<std::int64_t>(number.bits())) : py::int_(number.magnitude);
}

ir::Value to_value(py::handle object, DataType type, const std::string& where) {
  const ir::TypeInfo& row = ir::info(type);
  if (ir::is_vector(type)) {
    const std::string wanted = fmt::format("{} integers", row.components);
    const std::vector<py::object> items = to_list(object, where, wanted);
    if (items.size() != row.components) reject(where, wanted, object);
    ir::Value value;
    for (std::size_t lane = 0; lane < items.size(); ++lane) value.lanes[lane] = to_u32(items[lane], where);
    return value;
  }
  if (row.kind == ir::TypeKind::Boolean) return ir::scalar(to_bool(object, where) ? 1 : 0);
  if (row.kind == ir::TypeKind::Opaque) {
    reject(where, "a value of another type", "Bytes");
  }
  const ir::Literal literal = to_number(object, type, where).literal(type);
  return {{literal.low, literal.high}};
}

void bind_literals(py::class_<PyExpr>& expr) {
  // The type and the value of a literal; None of another expression.
  expr.def("_literal", [](const PyExpr& self) -> py::object {
    const ir::ExprData& data = *self.handle;
    if (data.kind != ir::ExprKind::Literal || data.adapts) return py::none();
    const auto literal = ir::Literal::of(static_cast<DataType>(data.op), data.bits);
    return py::make_tuple(literal.type, to_python({{literal.low, literal.high}}, literal.type));
  });
  for (const Constructor& row : kConstructors) {
    expr.def_static(
        ir::text(row.type).data(),
        [&row](py::handle given) {
          const std::string function = fmt::format("Expr.{}", ir::text(row.type)), where = fmt::format("argument `value` of {}", function);
          // A literal takes a constant. An expression needs a cast instead.
          if (ir::has_numbers(row.type) && py::isinstance<PyExpr>(given)) {
            reject(where, "an integer", given);
          }
          const ir::Value value = to_value(given, row.type, where);
          return PyExpr{ir::expr::literal({row.type, value.lanes[0], value.lanes[1]}, caller())};
        },
        py::arg("value"), row.documentation);
  }
}

}  // namespace vyre::python
