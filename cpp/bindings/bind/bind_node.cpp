// Binds the class Node, which has one constructor for each kind of statement.
#include <fmt/format.h>

#include "bindings/bindings.hpp"
#include "bindings/construct.hpp"
#include "bindings/convert/convert.hpp"
#include "bindings/convert/pickle.hpp"

namespace vyre::python {
namespace {

py::object wrap_node(ir::NodeHandle handle) { return new_instance(PyNode{std::move(handle)}); }

void bind_plain(py::class_<PyNode>& node) {
  node.def_static(
      "let",
      [](py::handle name, py::handle value) {
        std::string variable = to_text(name, "argument `name` of Node.let");
        return wrap_node(ir::node::let(std::move(variable), to_expr(value, "argument `value` of Node.let"), caller()));
      },
      py::arg("name"), py::arg("value"),
      R"(let(name, value) -> Node

Binds a new variable, visible from the next statement to the end of its block. Shadowing is V008.

>>> vyre.Node.let("i", vyre.Expr.gid_x())
Node(let i = invocation_id(0)))");
  node.def_static(
      "assign",
      [](py::handle name, py::handle value) {
        std::string variable = to_text(name, "argument `name` of Node.assign");
        return wrap_node(ir::node::assign(std::move(variable), to_adapting(value, "argument `value` of Node.assign"), caller()));
      },
      py::arg("name"), py::arg("value"),
      R"(assign(name, value) -> Node

Gives a variable in scope a new value of its type.

>>> vyre.Node.assign("sum", vyre.Expr.var("sum") + 1)
Node(sum = sum + 1))");
  node.def_static(
      "store",
      [](py::handle buffer, py::handle index, py::handle value) {
        std::string target = to_text(buffer, "argument `buffer` of Node.store");
        ir::ExprHandle at = to_expr(index, "argument `index` of Node.store");
        return wrap_node(ir::node::store(std::move(target), std::move(at), to_adapting(value, "argument `value` of Node.store"), caller()));
      },
      py::arg("buffer"), py::arg("index"), py::arg("value"),
      R"(store(buffer, index, value) -> Node

Writes an element of a ReadWrite, Workgroup or Private buffer; no effect when index >= buf_len(buffer).

>>> vyre.Node.store("out", 0, 7)
Node(out[0] = 7))");
}

void bind_control_flow(py::class_<PyNode>& node) {
  node.def_static(
      "if_",
      [](py::handle cond, py::handle then, py::handle otherwise) {
        ir::ExprHandle condition = to_expr(cond, "argument `cond` of Node.if_");
        std::vector<ir::NodeHandle> yes = to_nodes(then, "argument `then` of Node.if_");
        return wrap_node(
            ir::node::if_(std::move(condition), std::move(yes), to_nodes(otherwise, "argument `otherwise` of Node.if_"), caller()));
      },
      py::arg("cond"), py::arg("then"), py::arg("otherwise") = py::tuple(),
      R"(if_(cond, then, otherwise=()) -> Node

Runs the statements `then` when cond (U32 or Bool) is not zero, else those of `otherwise`.

>>> vyre.Node.if_(vyre.Expr.gid_x() < 4, [vyre.Node.store("out", 0, 1)])
Node(if invocation_id(0) < 4 {1 statement}))");
  node.def_static(
      "loop",
      [](py::handle var, py::handle from, py::handle to, py::handle body) {
        std::string variable = to_text(var, "argument `var` of Node.loop");
        ir::ExprHandle first = to_expr(from, "argument `from_` of Node.loop");
        ir::ExprHandle last = to_expr(to, "argument `to` of Node.loop");
        return wrap_node(ir::node::loop(std::move(variable), std::move(first), std::move(last),
                                        to_nodes(body, "argument `body` of Node.loop"), caller()));
      },
      py::arg("var"), py::arg("from_"), py::arg("to"), py::arg("body"),
      R"(loop(var, from_, to, body) -> Node

Runs `body` for var = from_, ..., to - 1 (U32, half-open). Bounds are evaluated once; from_ >= to runs no turn.

>>> vyre.Node.loop("k", 0, 8, [vyre.Node.store("out", vyre.Expr.var("k"), 1)])
Node(loop k from 0 to 8 {1 statement}))");
  node.def_static(
      "block", [](py::handle body) { return wrap_node(ir::node::block(to_nodes(body, "argument `body` of Node.block"), caller())); },
      py::arg("body"),
      R"(block(body) -> Node

Statements with a scope of their own.

>>> vyre.Node.block([vyre.Node.let("t", 1)])
Node(block {1 statement}))");
  node.def_static(
      "return_", [] { return wrap_node(ir::node::return_(caller())); },
      R"(return_() -> Node

Ends this invocation. A statement after it in the same list is V026.

>>> vyre.Node.return_()
Node(return))");
  node.def_static(
      "break_", [] { return wrap_node(ir::node::break_(caller())); },
      R"(break_() -> Node

Leaves the innermost Loop around it: what follows the Loop runs next. Outside of a Loop it is V038, and so is a statement after it
in the same list.

>>> vyre.Node.break_()
Node(break))");
  node.def_static(
      "barrier", [] { return wrap_node(ir::node::barrier(caller())); },
      R"(barrier() -> Node

Waits for every invocation of the workgroup, and orders its storage and workgroup memory. It must stand in uniform control
flow (V010).

>>> vyre.Node.barrier()
Node(barrier))");
}

}  // namespace

void bind_node(py::module_& m) {
  py::class_<PyNode> node(m, "Node", py::is_final(), made_whole<PyNode>(),
                          R"(A statement: an immutable handle, made by the functions of this class.

>>> vyre.Node.store("out", vyre.Expr.gid_x(), 1)
Node(out[invocation_id(0)] = 1))");
  def_no_new(node, "write Node.let(name, value), Node.store(buffer, index, value) or another constructor");
  bind_plain(node);
  bind_control_flow(node);
  explain_calls(node, "Node");
  node.def("__repr__", [](const PyNode& self) { return lenient_str(brief(self.handle)); });
  node.def("__eq__",
           [](const PyNode& self, py::handle other) { return is<PyNode>(other) && self.handle == other.cast<const PyNode&>().handle; });
  node.def("__hash__", [](const PyNode& self) { return reinterpret_cast<std::uintptr_t>(self.handle.get()) >> 4; });
  node.def("__copy__", [](py::object self) { return self; });
  node.def("__deepcopy__", [](py::object self, py::handle) { return self; });
  node.def("__reduce__", [](const PyNode& self) {
    return py::make_tuple(py::module_::import("vyre._pickle").attr("node"), py::make_tuple(pickle(self.handle)));
  });
  m.def(
      "_open_let",
      [](py::handle name, const PyExpr& value) {
        return wrap_node(ir::node::open_let(to_text(name, "argument `name` of _open_let"), value.handle, caller()));
      },
      py::arg("name"), py::arg("value"));
  m.def("_node_from_bytes", [](const py::bytes& data) { return wrap_node(unpickle_node(data)); });
}

}  // namespace vyre::python
