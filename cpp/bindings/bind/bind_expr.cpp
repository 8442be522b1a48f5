// Binds the Python class Expr: its constructors, which are functions of the class, and what every object has.
#include <fmt/format.h>

#include <utility>

#include "bindings/bind/expr_class.hpp"
#include "bindings/convert/convert.hpp"
#include "bindings/convert/pickle.hpp"
#include "vyre/ir/handles/infix.hpp"

namespace vyre::python {
namespace {

using ir::BinOp;
using ir::UnOp;

void bind_vectors(ExprClass& expr) {
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

void bind_reads(ExprClass& expr) {
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
        ir::ExprHandle at = operand(index, "index", "Expr.load");
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

void bind_ids(ExprClass& expr) {
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

// Binds properties for the lanes of a vector, and for the two halves of a U64, which are its lanes.
void bind_components(ExprClass& expr) {
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

void bind_other_values(ExprClass& expr, py::module_& m) {
  expr.def_static(
      "binop",
      [](py::handle op, py::handle left, py::handle right) {
        const auto chosen = to_member<BinOp>(op, ir::kBinOps.size(), argument("op", "Expr.binop"), "a vyre.BinOp");
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
        const auto chosen = to_member<UnOp>(op, ir::kUnOps.size(), argument("op", "Expr.unop"), "a vyre.UnOp");
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
        ir::ExprHandle yes = to_adapting(if_true, argument("if_true", "Expr.select"));
        return wrap(
            ir::expr::select(std::move(chosen), std::move(yes), to_adapting(if_false, argument("if_false", "Expr.select")), caller()));
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

`value` as another DataType, by the table of casts in the reference; a pair that is not there is V012 or V023.

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

void bind_lanes(ExprClass& expr, py::module_& m) {
  def_method(
      expr, m, "lane",
      [](py::handle value, py::handle k) {
        ir::ExprHandle whole = operand(value, "value", "Expr.lane");
        return wrap(ir::expr::lane(std::move(whole), to_u32(k, argument("k", "Expr.lane")), caller()));
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

}  // namespace

void bind_expr(py::module_& m) {
  ExprClass expr(m, "Expr", py::is_final(), made_whole<PyExpr>(),
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
  def_no_new(expr, "write Expr.u32(v), Expr.var(name), Expr.load(buffer, index) or another constructor");
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
        if (!given->is_integer()) return wrap(given);
        return wrap(ir::expr::open_integer(given->number(), std::move(group), caller()));
      },
      py::arg("value"), py::arg("group"));
  m.def(
      "_taking_bools", [](PyExpr& logical) { return wrap(ir::expr::taking_bools(logical.handle)); }, py::arg("logical"));
  m.def("_expr_from_bytes", [](const py::bytes& data) { return wrap(unpickle_expr(data)); });
  // Makes the operators of a numpy scalar or array on the left return NotImplemented, so that Python calls those of Expr.
  expr.attr("__array_ufunc__") = py::none();
  bind_infix_slots(m, expr);
}

}  // namespace vyre::python
