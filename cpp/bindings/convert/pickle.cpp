#include "bindings/convert/pickle.hpp"

#include <fmt/format.h>

#include "bindings/without_gil.hpp"
#include "vyre/ir/bytes/wire.hpp"
#include "vyre/ir/handles/resolve.hpp"

namespace vyre::python {

ParseError not_pickled(const char* what) {
  return ParseError(fmt::format("these bytes are not a pickled {}. Fix: load what pickle.dumps wrote.", what));
}

py::bytes pickle(const ir::NodeHandle& node) {
  return py::bytes(without_gil([&] { return ir::to_bytes(ir::spell_out(std::array{node})); }));
}

py::bytes pickle(const ir::ExprHandle& expr) { return pickle(ir::node::let("value", expr)); }

ir::NodeHandle unpickle_node(const py::bytes& data) {
  const std::string_view bytes = data;
  const WithoutGil unlocked;
  std::vector<ir::NodeHandle> entry = ir::entry_handles(ir::from_bytes(std::as_bytes(std::span(bytes))));
  if (entry.size() != 1) throw not_pickled("statement");
  return entry.front();
}

ir::ExprHandle unpickle_expr(const py::bytes& data) {
  const ir::NodeHandle node = unpickle_node(data);
  if (node->operands.size() != 1) throw not_pickled("expression");
  return node->operands.front();
}

}  // namespace vyre::python
