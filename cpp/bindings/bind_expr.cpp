// The Python class Expr: its constructors, Python's operators, and a function for each operator in the tables of ops.def.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <sstream>
#include <utility>

#include "bindings.hpp"
#include "construct.hpp"
#include "convert.hpp"
#include "instances.hpp"
#include "literals.hpp"
#include "pickle.hpp"
#include "vyre/base/assert.hpp"
#include "vyre/base/error.hpp"
#include "vyre/ir/by_type.hpp"
#include "vyre/ir/infix.hpp"

namespace vyre::python {
namespace {

using ir::BinOp;
using ir::UnOp;
using Class = py::class_<PyExpr>;

py::object wrap(ir::ExprHandle handle) { return new_instance(PyExpr{std::move(handle)}); }

// The description of the argument, which only messages need, is not built for an operand that quick_expr() accepts.
ir::ExprHandle operand(py::handle object, const char* name, std::string_view function) {
  if (ir::ExprHandle value = quick_expr(object)) return value;
  return to_expr(object, argument(name, function));
}

// Converts two operands that must have one type. If both are integers, neither can take its type from the other, so both are U32.
std::pair<ir::ExprHandle, ir::ExprHandle> adapting_pair(py::handle first, py::handle second, std::array<const char*, 2> names,
                                                        std::string_view function) {
  const bool untyped = is_integer(first) && is_integer(second);
  const auto value = [&](py::handle object, const char* name) {
    return untyped ? operand(object, name, function) : to_adapting(object, argument(name, function));
  };
  ir::ExprHandle left = value(first, names[0]);
  return {std::move(left), value(second, names[1])};
}

ir::ExprHandle index_operand(py::handle object, std::string_view function, const std::string& buffer) {
  if (ir::ExprHandle value = quick_expr(object)) return value;
  return to_index(object, argument("index", function), buffer);
}

void bind_vectors(Class& expr) {
  expr.def_static(
      "vec2",
      [](py::handle x, py::handle y) {
        return wrap(ir::expr::pack(ir::DataType::Vec2U32, {operand(x, "x", "Expr.vec2"), operand(y, "y", "Expr.vec2")}, caller()));
      },
      py::arg("x"), py::arg("y"),
      R"(vec2(x, y) -> Expr

A Vec2U32 from two U32 values.

>>> vyre.Expr.vec2(1, 2)
Expr(pack(Vec2U32, 1, 2)))");
  expr.def_static(
      "vec4",
      [](py::handle x, py::handle y, py::handle z, py::handle w) {
        return wrap(ir::expr::pack(
            ir::DataType::Vec4U32,
            {operand(x, "x", "Expr.vec4"), operand(y, "y", "Expr.vec4"), operand(z, "z", "Expr.vec4"), operand(w, "w", "Expr.vec4")},
            caller()));
      },
      py::arg("x"), py::arg("y"), py::arg("z"), py::arg("w"),
      R"(vec4(x, y, z, w) -> Expr

A Vec4U32 from four U32 values.

>>> vyre.Expr.vec4(1, 2, 3, 4)
Expr(pack(Vec4U32, 1, 2, 3, 4)))");
}

void bind_reads(Class& expr) {
  expr.def_static(
      "var", [](py::handle name) { return wrap(ir::expr::var(to_text(name, argument("name", "Expr.var")), caller())); }, py::arg("name"),
      R"(var(name) -> Expr

The value of a variable: a Node.let in scope, or the variable of an enclosing Node.loop.

>>> vyre.Expr.var("i") + 1
Expr(i + 1))");
  expr.def_static(
      "load",
      [](py::handle buffer, py::handle index) {
        std::string name = to_text(buffer, argument("buffer", "Expr.load"));
        ir::ExprHandle at = index_operand(index, "Expr.load", name);
        return wrap(ir::expr::load(std::move(name), std::move(at), caller()));
      },
      py::arg("buffer"), py::arg("index"),
      R"(load(buffer, index) -> Expr

Element `index` (U32) of a buffer; zero of the element type when index >= buf_len(buffer).

>>> vyre.Expr.load("left", vyre.Expr.gid_x())
Expr(left[invocation_id(0)]))");
  expr.def_static(
      "buf_len", [](py::handle buffer) { return wrap(ir::expr::buf_len(to_text(buffer, argument("buffer", "Expr.buf_len")), caller())); },
      py::arg("buffer"),
      R"(buf_len(buffer) -> Expr

The number of whole elements of a buffer, U32; of a Bytes buffer the number of its u32 words.

>>> vyre.Expr.buf_len("out")
Expr(buf_len(out)))");
}

void bind_ids(Class& expr) {
  for (const ir::GridIdInfo& row : ir::kGridIds) {
    expr.def_static(
        row.name.data(),
        [&row](py::handle axis) {
          return wrap(ir::expr::grid_id(row.kind, to_u32(axis, argument("axis", fmt::format("Expr.{}", row.name))), caller()));
        },
        py::arg("axis"),
        fmt::format(
            "{0}(axis) -> Expr\n\n{1} Axis 0, 1 or 2 for x, y, z; another one is reported as V007.\n\n>>> vyre.Expr.{0}(0)\nExpr({0}(0))",
            row.name, row.meaning)
            .c_str());
    for (std::uint32_t axis = 0; axis < 3; ++axis) {
      const std::string name = fmt::format("{}_{}", row.short_name, "xyz"[axis]);
      expr.def_static(
          name.c_str(), [&row, axis] { return wrap(ir::expr::grid_id(row.kind, axis, caller())); },
          fmt::format("{0}() -> Expr\n\n{1} Along {2}.\n\n>>> vyre.Expr.{0}()\nExpr({3}({4}))", name, row.meaning, "xyz"[axis], row.name,
                      axis)
              .c_str());
    }
  }
}

// Returns the docstring's text for a function that chooses its operator by the type of its operands: what the function computes, and on
// which types.
std::string meaning(const ir::InfixInfo& row) {
  std::string types;
  for (const ir::TypeInfo& type : ir::kTypes) {
    if (is_defined(row, type.type)) types += fmt::format("{}{}", types.empty() ? "" : ", ", type.name);
  }
  std::string_view what = "The absolute value; the least I32 stays what it is.";
  if (const BinOp* op = std::get_if<BinOp>(&row.u32)) what = ir::info(*op).meaning;
  if (const UnOp* op = std::get_if<UnOp>(&row.u32)) what = ir::info(*op).meaning;
  return fmt::format("{} Resolved by the type of the operands, which is one of {}.", what, types);
}

// Defines a function under one name as a static method of Expr and as a function of the module.
template <class Function, class... Extra>
py::cpp_function def_both(Class& expr, py::module_& m, const std::string& name, Function function, const Extra&... extra) {
  py::cpp_function made(function, py::name(name.c_str()), py::scope(m), extra...);
  m.attr(name.c_str()) = made;
  expr.attr(name.c_str()) = py::staticmethod(made);
  return made;
}

// A function whose first argument is a value is also a method of Expr: x.rotl(3) is Expr.rotl(x, 3).
template <class Function, class... Extra>
void def_method(Class& expr, py::module_& m, const std::string& name, Function function, const Extra&... extra) {
  py::cpp_function made = def_both(expr, m, name, function, extra...);
  expr.attr(name.c_str()) = py::reinterpret_steal<py::object>(PyInstanceMethod_New(made.ptr()));
}

// Defines an explicit operator as a method of Expr. The module gets it as a function, too, unless the module's function of that name
// chooses the operator by the types of its operands (bind_infix_functions).
template <class Function, class... Extra>
void def_operator(Class& expr, py::module_& m, const std::string& name, Function function, const Extra&... extra) {
  const bool resolves = std::ranges::any_of(ir::kInfixes, [&](const ir::InfixInfo& row) { return row.function == name; });
  if (!resolves) return def_method(expr, m, name, function, extra...);
  const py::cpp_function made(function, py::name(name.c_str()), py::scope(expr), extra...);
  expr.attr(name.c_str()) = py::reinterpret_steal<py::object>(PyInstanceMethod_New(made.ptr()));
}

void bind_operator_functions(Class& expr, py::module_& m) {
  for (const ir::BinOpInfo& row : ir::kBinOps) {
    const std::string shown =
        row.infix.empty() ? fmt::format("{}(a, 1)", row.text) : fmt::format("a {} 1", row.op == BinOp::Div ? "//" : row.infix);
    def_operator(
        expr, m, std::string(row.text),
        [&row](py::handle left, py::handle right) {
          const std::string_view name = row.text;
          return wrap(ir::expr::binary(row.op, operand(left, "left", name), operand(right, "right", name), caller()));
        },
        py::arg("left"), py::arg("right"),
        fmt::format(
            "{0}(left, right) -> Expr\n\n{1} Operands: {2} and {3}; result: {4}.\n\n>>> vyre.Expr.{0}(vyre.Expr.var(\"a\"), 1)\nExpr({5})",
            row.text, row.meaning, ir::name(row.left), ir::name(row.right), ir::name(row.result), shown)
            .c_str());
  }
  for (const ir::UnOpInfo& row : ir::kUnOps) {
    def_operator(
        expr, m, std::string(row.text),
        [&row](py::handle value) { return wrap(ir::expr::unary(row.op, operand(value, "value", row.text), caller())); }, py::arg("value"),
        fmt::format("{0}(value) -> Expr\n\n{1} Operand: {2}; result: {3}.\n\n>>> vyre.Expr.{0}(vyre.Expr.var(\"a\"))\nExpr({0}(a))",
                    row.text, row.meaning, ir::name(row.operand), ir::name(row.result))
            .c_str());
  }
  for (const ir::AtomicOpInfo& row : ir::kAtomicOps) {
    const std::string_view name = row.text;
    if (row.op == ir::AtomicOp::CompareExchange) {
      def_both(
          expr, m, std::string(name),
          [&row](py::handle buffer, py::handle index, py::handle expected, py::handle value) {
            std::string target = to_text(buffer, argument("buffer", row.text));
            ir::ExprHandle at = index_operand(index, row.text, target);
            ir::ExprHandle old = operand(expected, "expected", row.text);
            return wrap(
                ir::expr::atomic(row.op, std::move(target), std::move(at), std::move(old), operand(value, "value", row.text), caller()));
          },
          py::arg("buffer"), py::arg("index"), py::arg("expected"), py::arg("value"),
          fmt::format("{0}(buffer, index, expected, value) -> Expr\n\n{1} On a ReadWrite buffer of U32; gives the value held before, 0 "
                      "when index is out of bounds."
                      "\n\n>>> vyre.{0}(\"flags\", 0, 0, 1)\nExpr({0}(flags, 0, 0, 1))",
                      name, row.meaning)
              .c_str());
      continue;
    }
    def_both(
        expr, m, std::string(name),
        [&row](py::handle buffer, py::handle index, py::handle value) {
          std::string target = to_text(buffer, argument("buffer", row.text));
          ir::ExprHandle at = index_operand(index, row.text, target);
          return wrap(ir::expr::atomic(row.op, std::move(target), std::move(at), {}, operand(value, "value", row.text), caller()));
        },
        py::arg("buffer"), py::arg("index"), py::arg("value"),
        fmt::format("{0}(buffer, index, value) -> Expr\n\n{1} On a ReadWrite buffer of U32; gives the value held before, 0 when index is "
                    "out of bounds."
                    "\n\n>>> vyre.{0}(\"sums\", 0, 1)\nExpr({0}(sums, 0, 1))",
                    name, row.meaning)
            .c_str());
  }
}

// Binds properties for the lanes of a vector, and for the two halves of a U64, which are its lanes.
void bind_components(Class& expr) {
  struct Row {
    const char* name;
    std::uint32_t lane;
    const char* meaning;
  };
  static constexpr Row kRows[] = {
      {"x", 0, "Lane 0 of a vector, U32."}, {"y", 1, "Lane 1 of a vector, U32."},        {"z", 2, "Lane 2 of a vector, U32."},
      {"w", 3, "Lane 3 of a vector, U32."}, {"lo", 0, "The low 32 bits of a U64, U32."}, {"hi", 1, "The high 32 bits of a U64, U32."},
  };
  for (const Row& row : kRows) {
    expr.def_property_readonly(
        row.name, [&row](const PyExpr& self) { return wrap(ir::expr::lane(self.handle, row.lane, caller())); }, row.meaning);
  }
}

void bind_other_values(Class& expr, py::module_& m) {
  expr.def_static(
      "binop",
      [](py::handle op, py::handle left, py::handle right) {
        const auto chosen = to_member<BinOp>(op, ir::kBinOps.size(), argument("op", "Expr.binop"), "a vyre.BinOp",
                                             "write BinOp.Add or another operator of that table");
        return wrap(ir::expr::binary(chosen, operand(left, "left", "Expr.binop"), operand(right, "right", "Expr.binop"), caller()));
      },
      py::arg("op"), py::arg("left"), py::arg("right"),
      R"(binop(op, left, right) -> Expr

The binary operator `op` of vyre.BinOp, with no casts added.

>>> vyre.Expr.binop(vyre.BinOp.BitXor, 1, 2)
Expr(1 ^ 2))");
  expr.def_static(
      "unop",
      [](py::handle op, py::handle value) {
        const auto chosen = to_member<UnOp>(op, ir::kUnOps.size(), argument("op", "Expr.unop"), "a vyre.UnOp",
                                            "write UnOp.Popcount or another operator of that table");
        return wrap(ir::expr::unary(chosen, operand(value, "value", "Expr.unop"), caller()));
      },
      py::arg("op"), py::arg("value"),
      R"(unop(op, value) -> Expr

The unary operator `op` of vyre.UnOp, with no casts added.

>>> vyre.Expr.unop(vyre.UnOp.Popcount, 7)
Expr(popcount(7)))");
  def_method(
      expr, m, "select",
      [](py::handle condition, py::handle if_true, py::handle if_false) {
        ir::ExprHandle chosen = operand(condition, "cond", "Expr.select");
        auto [yes, no] = adapting_pair(if_true, if_false, {"if_true", "if_false"}, "Expr.select");
        return wrap(ir::expr::select(std::move(chosen), std::move(yes), std::move(no), caller()));
      },
      py::arg("cond"), py::arg("if_true"), py::arg("if_false"),
      R"(select(cond, if_true, if_false) -> Expr

`if_true` where cond (U32 or Bool) is not zero, else `if_false`; both are evaluated and have one type.

>>> vyre.select(vyre.Expr.var("n") > 4, 1, 0)
Expr(select((n > 4), 1, 0)))");
  def_both(
      expr, m, "cast",
      [](py::handle target, py::handle value) {
        const ir::DataType type = to_type(target, argument("target", "Expr.cast"));
        return wrap(ir::expr::cast(type, operand(value, "value", "Expr.cast"), caller()));
      },
      py::arg("target"), py::arg("value"),
      R"(cast(target, value) -> Expr

`value` as another DataType, by the table of the cast document; a pair that is not there is V012 or V023.

>>> vyre.cast(vyre.i32, vyre.Expr.var("a"))
Expr(cast(I32, a)))");
  def_both(
      expr, m, "call",
      [](py::handle op_id, py::handle args) {
        std::string id = to_text(op_id, argument("op_id", "Expr.call"));
        return wrap(ir::expr::call(std::move(id), to_adapting_list(args, argument("args", "Expr.call")), caller()));
      },
      py::arg("op_id"), py::arg("args"),
      R"(call(op_id, args) -> Expr

The result of a registered operation. `id` means its highest version, `id@2` pins one; see vyre.ops.

>>> vyre.call("primitive.bitwise.xor", [1, 2])
Expr(call(primitive.bitwise.xor, 1, 2)))");
}

void bind_lanes(Class& expr, py::module_& m) {
  def_method(
      expr, m, "lane",
      [](py::handle value, py::handle k) {
        ir::ExprHandle whole = operand(value, "value", "Expr.lane");
        return wrap(ir::expr::lane(std::move(whole), to_u32(k, argument("k", "Expr.lane"), "write a constant lane number"), caller()));
      },
      py::arg("value"), py::arg("k"),
      R"(lane(value, k) -> Expr

Component `k` of a U64 (0 is the low half), Vec2U32 or Vec4U32, as U32; k is a constant.

>>> vyre.lane(vyre.Expr.u64(1), 0)
Expr(lane(u64(1), 0)))");
  def_both(
      expr, m, "pack",
      [](py::handle type, py::handle lanes) {
        const ir::DataType packed = to_type(type, argument("type", "Expr.pack"));
        return wrap(ir::expr::pack(packed, to_exprs(lanes, argument("lanes", "Expr.pack")), caller()));
      },
      py::arg("type"), py::arg("lanes"),
      R"(pack(type, lanes) -> Expr

A U64 (low, high), Vec2U32 or Vec4U32 from exactly as many U32 values as it has lanes.

>>> vyre.pack(vyre.u64, [1, 0])
Expr(pack(U64, 1, 0)))");
}

// An operand of one of Python's operators. An integer gets the type of the other operand, or U32 if neither operand has a type.
ir::ExprHandle infix_operand(py::handle object, const char* side, std::string_view symbol) {
  return to_adapting(object, fmt::format("the {} operand of `{}`", side, symbol));
}

// Binds the functions of the module that choose an explicit operator by the types of their operands, as Python's operators do: vyre.min,
// for instance. The function of Expr with the same name is always the operator of that name in ops.def.
void bind_infix_functions(py::module_& m) {
  for (const ir::InfixInfo& row : ir::kInfixes) {
    if (row.op == ir::Infix::Invert) continue;
    const std::string name(row.function);
    if (row.shape == ir::InfixShape::One) {
      m.attr(name.c_str()) = py::cpp_function(
          [&row](py::handle value) { return wrap(ir::expr::infix(row.op, {operand(value, "value", row.function)}, caller())); },
          py::name(name.c_str()), py::scope(m), py::arg("value"),
          fmt::format("{0}(value) -> Expr\n\n{1}\n\n>>> vyre.{0}(vyre.Expr.var(\"a\"))\nExpr({0}(a))", name, meaning(row)).c_str());
      continue;
    }
    const std::string shown = row.symbol == row.function ? fmt::format("{}(a, 1)", name) : fmt::format("a {} 1", row.symbol);
    m.attr(name.c_str()) = py::cpp_function(
        [&row](py::handle left, py::handle right) {
          auto [first, second] = adapting_pair(left, right, {"left", "right"}, row.function);
          return wrap(ir::expr::infix(row.op, {std::move(first), std::move(second)}, caller()));
        },
        py::name(name.c_str()), py::scope(m), py::arg("left"), py::arg("right"),
        fmt::format("{0}(left, right) -> Expr\n\n{1}\n\n>>> vyre.{0}(vyre.Expr.var(\"a\"), 1)\nExpr({2})", name, meaning(row), shown)
            .c_str());
  }
}

// Returns the docstring of a function of by_type.def. It lists the operations that the function chooses from.
std::string by_type_text(const ir::ByType& row, const std::vector<std::string>& parameters) {
  std::string chosen;
  for (const auto& [type, operation] : row.rows) {
    if (!operation.empty()) chosen += fmt::format("{}`{}` on {}", chosen.empty() ? "" : ", ", operation, ir::name(type));
  }
  std::string arguments;
  for (std::size_t k = 0; k < parameters.size(); ++k) arguments += fmt::format(", {}", k == 0 ? "vyre.Expr.var(\"a\")" : "1");
  std::string shown = "a";
  for (std::size_t k = 1; k < parameters.size(); ++k) shown += ", 1";
  return fmt::format("{0}({1}) -> Expr\n\n{5} Calls {2}.\n\n>>> vyre.{0}({3})\nExpr({0}({4}))", row.name, fmt::join(parameters, ", "),
                     chosen, arguments.substr(2), shown, row.meaning);
}

template <std::size_t>
using GivenHandle = py::handle;

template <std::size_t... K>
void def_by_type(py::module_& m, const ir::ByType& row, const std::vector<std::string>& parameters, std::index_sequence<K...>) {
  const std::string name(row.name);
  m.attr(name.c_str()) = py::cpp_function(
      [&row, parameters](GivenHandle<K>... given) {
        std::vector<ir::ExprHandle> arguments{to_adapting(given, argument(parameters[K].c_str(), row.name))...};
        return wrap(ir::expr::call(std::string(row.name), std::move(arguments), caller()));
      },
      py::name(name.c_str()), py::scope(m), py::arg(parameters[K].c_str())..., by_type_text(row, parameters).c_str());
}

// Binds the functions that call an operation by the type of their operands. An integer among the arguments takes the type that the
// operation wants. If all arguments are integers, the function calls the first operation of its row.
void bind_by_type(py::module_& m) {
  for (const ir::ByType& row : ir::kByType) {
    std::istringstream words{std::string(row.parameters)};
    const std::vector<std::string> parameters{std::istream_iterator<std::string>(words), {}};
    switch (parameters.size()) {
      case 1:
        def_by_type(m, row, parameters, std::make_index_sequence<1>());
        break;
      case 2:
        def_by_type(m, row, parameters, std::make_index_sequence<2>());
        break;
      case 3:
        def_by_type(m, row, parameters, std::make_index_sequence<3>());
        break;
      default:
        VYRE_ASSERT(parameters.size() == 4);
        def_by_type(m, row, parameters, std::make_index_sequence<4>());
    }
  }
}

void bind_infix(Class& expr) {
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
void bind_refusals(Class& expr) {
  struct Row {
    const char* name;
    const char* message;
  };
  static constexpr Row kBinary[] = {
      {"__truediv__", "`/` is not defined on expressions. Fix: write `//` (truncating; x // 0 is 0)."},
      {"__rtruediv__", "`/` is not defined on expressions. Fix: write `//` (truncating; x // 0 is 0)."},
      {"__rpow__", "`**` is not defined on expressions. Fix: multiply, or write `1 << n` for a power of two."},
      {"__matmul__", "`@` is not defined on expressions. Fix: add the products in a Node.loop."},
      {"__rmatmul__", "`@` is not defined on expressions. Fix: add the products in a Node.loop."},
      {"__divmod__", "divmod() is not defined on expressions. Fix: write x // y and x % y."},
      {"__rdivmod__", "divmod() is not defined on expressions. Fix: write x // y and x % y."},
      {"__contains__", "an expression holds no elements, so `in` has no meaning. Fix: compare with `==` and combine with Expr.logical_or."},
      {"__getitem__", "an expression cannot be indexed. Fix: write Expr.load(buffer, index) or Expr.lane(value, k)."},
  };
  for (const Row& row : kBinary) {
    expr.def(row.name, [&row](const PyExpr&, py::handle) -> py::object { throw ArgumentError(row.message); });
  }
  expr.def("__setitem__", [](const PyExpr&, py::handle, py::handle) {
    throw ArgumentError("an expression cannot be indexed. Fix: write Node.store(buffer, index, value).");
  });
  expr.def("__pow__", [](const PyExpr&, const py::args&) -> py::object {
    throw ArgumentError("`**` is not defined on expressions. Fix: multiply, or write `1 << n` for a power of two.");
  });
  expr.def("__round__", [](const PyExpr&, const py::args&) -> py::object {
    throw ArgumentError("an expression has no value before it runs. Fix: leave the rounding out; the types are integers.");
  });
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
      {"__trunc__", "an expression has no value before it runs. Fix: leave the rounding out; the types are integers."},
      {"__floor__", "an expression has no value before it runs. Fix: leave the rounding out; the types are integers."},
      {"__ceil__", "an expression has no value before it runs. Fix: leave the rounding out; the types are integers."},
      {"__float__", "an expression has no float value before it runs. Fix: keep it an expression; the types are integers."},
      {"__len__", "an expression has no length. Fix: write Expr.buf_len(buffer) for the length of a buffer."},
      {"__iter__", "an expression cannot be iterated. Fix: write Node.loop(var, from_, to, body)."},
  };
  for (const Row& row : kUnary) {
    expr.def(row.name, [&row](const PyExpr&) -> py::object { throw ArgumentError(row.message); });
  }
}

}  // namespace

void bind_expr(py::module_& m) {
  py::options options;
  options.disable_function_signatures();
  Class expr(m, "Expr", py::is_final(), made_whole<PyExpr>(),
             R"(An expression: an immutable handle, made by the functions of this class and by operators.

The type of its operands decides what an operator computes; it is known when a vyre.Program is made. `+ - * // % & | ^ ~ << >>`,
comparisons, unary `-`, abs() and vyre.min, max, rotl, popcount and the like work on U32, I32, U64, vectors and Bool, as far as
defined; the two operands have one type, and amounts of shifts are U32. `//` and `%` truncate, unlike Python's. An integer gets the
type of the other operand. An expression used twice in a statement is evaluated once. The functions of this class, in contrast, are
explicit operators with fixed operand types. Those whose first argument is a value are also methods: x.rotl(3).

>>> (vyre.Expr.load("left", 0) ^ 5) & 0xFF
Expr((left[0] ^ 5) & 255)
>>> vyre.Expr.i32(-8) // 3
Expr(i32(-8) // 3))");
  def_no_new(expr, "Expr is not called directly. Fix: write Expr.u32(v), Expr.var(name), Expr.load(buffer, index) or another constructor.");
  bind_literals(expr);
  bind_vectors(expr);
  bind_components(expr);
  bind_reads(expr);
  bind_ids(expr);
  bind_operator_functions(expr, m);
  bind_infix_functions(m);
  bind_by_type(m);
  bind_other_values(expr, m);
  bind_lanes(expr, m);
  bind_infix(expr);
  bind_refusals(expr);
  explain_calls(expr, "Expr");
  expr.def("__repr__", [](const PyExpr& self) { return lenient_str(brief(self.handle)); });
  expr.def("__hash__", [](const PyExpr& self) { return reinterpret_cast<std::uintptr_t>(self.handle.get()) >> 4; });
  expr.def("__copy__", [](py::object self) { return self; });
  expr.def("__deepcopy__", [](py::object self, py::handle) { return self; });
  expr.def("__reduce__", [](const PyExpr& self) {
    return py::make_tuple(py::module_::import("vyre._pickle").attr("expr"), py::make_tuple(pickle(self.handle)));
  });
  m.def(
      "_open_integer",
      [](py::handle value, std::string group) {
        const ir::ExprHandle given = to_adapting(value, argument("value", "_open_integer"));
        if (!given->adapts) return wrap(given);
        return wrap(ir::expr::open_integer(given->bits, given->negative, std::move(group), caller()));
      },
      py::arg("value"), py::arg("group"));
  m.def("_expr_from_bytes", [](const py::bytes& data) { return wrap(unpickle_expr(data)); });
  // Makes the operators of a numpy scalar or array on the left return NotImplemented, so that Python calls those of Expr.
  expr.attr("__array_ufunc__") = py::none();
  bind_infix_slots(m, expr);
}

}  // namespace vyre::python
