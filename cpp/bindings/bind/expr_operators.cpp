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
  static constexpr const char* kNoValue = "an expression has no value before it runs. Fix: leave the rounding out; the types are integers.";
  struct Row {
    const char* name;
    const char* message;
    const char* also = nullptr;  // the same with exchanged operands
  };
  static constexpr Row kBinary[] = {
      {"__truediv__", "`/` is not defined on expressions. Fix: write `//` (truncating; x // 0 is 0).", "__rtruediv__"},
      {"__pow__", "`**` is not defined on expressions. Fix: multiply, or write `1 << n` for a power of two.", "__rpow__"},
      {"__matmul__", "`@` is not defined on expressions. Fix: add the products in a Node.loop.", "__rmatmul__"},
      {"__divmod__", "divmod() is not defined on expressions. Fix: write x // y and x % y.", "__rdivmod__"},
      {"__contains__", "an expression holds no elements, so `in` has no meaning. Fix: compare with `==` and combine with Expr.logical_or."},
      {"__getitem__", "an expression cannot be indexed. Fix: write Expr.load(buffer, index) or Expr.lane(value, k)."},
      {"__setitem__", "an expression cannot be indexed. Fix: write Node.store(buffer, index, value)."},
      {"__round__", kNoValue},
  };
  for (const Row& row : kBinary) {
    for (const char* name : {row.name, row.also}) {
      if (name != nullptr) expr.def(name, [&row](const PyExpr&, const py::args&) -> py::object { throw ArgumentError(row.message); });
    }
  }
  expr.def("__format__", [](const py::object& self, py::handle spec) -> py::object {
    if (PyUnicode_Check(spec.ptr()) && PyUnicode_GET_LENGTH(spec.ptr()) != 0) {
      throw ArgumentError("an expression has no digits before it runs. Fix: leave the format out of {x}, or format what the run gave.");
    }
    return py::str(self);
  });
  static constexpr Row kUnary[] = {
      {"__bool__",
       "an expression has no truth value before it runs. Fix: write Node.if_(cond, [...]) or Expr.select(cond, a, b) for `if`, vyre.min "
       "and "
       "vyre.max for min() and max(), Expr.logical_and, logical_or and logical_not for `and`, `or` and `not`, and (a < b) & (b < c) for a "
       "chain."},
      {"__int__", "an expression has no integer value before it runs. Fix: convert with Expr.cast(DataType.U32, value)."},
      {"__index__",
       "an expression has no integer value before it runs. Fix: write Node.loop(var, 0, n, body) for range(n), and Expr.load(buffer, "
       "index) to index with it."},
      {"__pos__", "`+` before an expression changes nothing. Fix: leave it out."},
      {"__trunc__", kNoValue},
      {"__floor__", kNoValue},
      {"__ceil__", kNoValue},
      {"__float__", "an expression has no float value before it runs. Fix: keep it an expression; the types are integers."},
      {"__len__", "an expression has no length. Fix: write Expr.buf_len(buffer) for the length of a buffer."},
      {"__iter__", "an expression cannot be iterated. Fix: write Node.loop(var, from_, to, body)."},
  };
  for (const Row& row : kUnary) {
    expr.def(row.name, [&row](const PyExpr&) -> py::object { throw ArgumentError(row.message); });
  }
}

}  // namespace vyre::python
