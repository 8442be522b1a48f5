// Binds Python's operators on expressions: those that make an expression, and those that are refused with what to write instead.
#include <fmt/format.h>

#include "bindings/bind/expr_class.hpp"
#include "vyre/base/error.hpp"
#include "vyre/ir/handles/infix.hpp"

namespace vyre::python {
namespace {

// An operand of one of Python's operators. An integer gets the type of the other operand, or U32 if neither operand has a type.
ir::ExprHandle infix_operand(py::handle object, const char* side, std::string_view symbol) {
  return to_adapting(object, fmt::format("the {} operand of `{}`", side, symbol));
}

}  // namespace

void bind_infix(ExprClass& expr) {
  struct Row {
    const char* name;
    const char* reflected;  // null for comparisons, which Python mirrors by itself
    ir::Infix op;
  };
  using enum ir::Infix;
  static constexpr Row kRows[] = {
      {"__add__", "__radd__", Add},
      {"__sub__", "__rsub__", Sub},
      {"__mul__", "__rmul__", Mul},
      {"__floordiv__", "__rfloordiv__", Div},
      {"__mod__", "__rmod__", Mod},
      {"__and__", "__rand__", BitAnd},
      {"__or__", "__ror__", BitOr},
      {"__xor__", "__rxor__", BitXor},
      {"__lshift__", "__rlshift__", Shl},
      {"__rshift__", "__rrshift__", Shr},
      {"__eq__", nullptr, Eq},
      {"__ne__", nullptr, Ne},
      {"__lt__", nullptr, Lt},
      {"__le__", nullptr, Le},
      {"__gt__", nullptr, Gt},
      {"__ge__", nullptr, Ge},
  };
  for (const Row& row : kRows) {
    const std::string_view symbol = ir::info(row.op).symbol;
    expr.def(row.name, [&row, symbol](const PyExpr& self, py::handle other) {
      return wrap(ir::expr::infix(row.op, {self.handle, infix_operand(other, "right", symbol)}, caller()));
    });
    if (row.reflected == nullptr) continue;
    expr.def(row.reflected, [&row, symbol](const PyExpr& self, py::handle other) {
      return wrap(ir::expr::infix(row.op, {infix_operand(other, "left", symbol), self.handle}, caller()));
    });
  }
  const auto prefix = [&](const char* name, ir::Infix op) {
    expr.def(name, [op](const PyExpr& self) { return wrap(ir::expr::infix(op, {self.handle}, caller())); });
  };
  prefix("__neg__", Negate);
  prefix("__invert__", Invert);
  prefix("__abs__", Abs);
}

// Operations that Python defines on numbers but that an expression cannot support, because it has no value until the program runs.
void bind_refusals(ExprClass& expr) {
  struct Row {
    const char* name;
    const char* shown;
    const char* instead;
    const char* also = nullptr;  // the same with exchanged operands
  };
  static constexpr Row kRows[] = {
      {"__truediv__", "`/`", "//, which truncates", "__rtruediv__"},
      {"__pow__", "`**`", "a product, or 1 << n for a power of two", "__rpow__"},
      {"__matmul__", "`@`", "a Node.loop that adds the products", "__rmatmul__"},
      {"__divmod__", "divmod()", "x // y and x % y", "__rdivmod__"},
      {"__contains__", "`in`", "comparisons, combined by Expr.logical_or"},
      {"__getitem__", "an index", "Expr.load(buffer, index) or Expr.lane(value, k)"},
      {"__setitem__", "an index", "Node.store(buffer, index, value)"},
      {"__round__", "round()", "the expression itself, which is an integer"},
      {"__trunc__", "math.trunc()", "the expression itself, which is an integer"},
      {"__floor__", "math.floor()", "the expression itself, which is an integer"},
      {"__ceil__", "math.ceil()", "the expression itself, which is an integer"},
      {"__float__", "float()", "the expression itself, which is an integer"},
      {"__pos__", "`+` before it", "the expression itself"},
      {"__bool__", "bool()", "Node.if_, Expr.select, vyre.min and max, or Expr.logical_and, logical_or and logical_not"},
      {"__int__", "int()", "Expr.cast(DataType.U32, value)"},
      {"__index__", "an integer value", "Node.loop(var, 0, n, body) for range(n), or Expr.load(buffer, index)"},
      {"__len__", "len()", "Expr.buf_len(buffer)"},
      {"__iter__", "iteration", "Node.loop(var, from_, to, body)"},
  };
  const auto refuse = [](const char* shown, const char* instead) {
    throw ArgumentError(fmt::format("an expression, which has no value before it runs, does not take {}. Fix: write {}.", shown, instead));
  };
  for (const Row& row : kRows) {
    for (const char* name : {row.name, row.also}) {
      if (name != nullptr) expr.def(name, [&row, refuse](const PyExpr&, const py::args&) { refuse(row.shown, row.instead); });
    }
  }
  expr.def("__format__", [refuse](const py::object& self, py::handle spec) -> py::object {
    if (PyUnicode_Check(spec.ptr()) && PyUnicode_GET_LENGTH(spec.ptr()) != 0) refuse("a format", "{x} without one");
    return py::str(self);
  });
}

}  // namespace vyre::python
