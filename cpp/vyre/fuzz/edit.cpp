#include "vyre/fuzz/edit.hpp"

#include "vyre/ir/data_type.hpp"
#include "vyre/transform/rebuild.hpp"

namespace vyre::fuzz {

using ir::DataType;

Edits::Edits(const ir::Program& program)
    : nodes(program.nodes().size(), Keep::All), buffers(program.buffers()), workgroup_size(program.workgroup_size()) {
  for (std::uint32_t index = 0; index < program.exprs().size(); ++index) exprs.push_back({ExprId{index}, {}});
}

IdVector<ExprId, DataType> types_of(const validate::ValidProgram& program) {
  IdVector<ExprId, DataType> types(program.program().exprs().size(), DataType::U32);
  std::vector<bool> known(types.size());
  for (const validate::Step& step : program.facts().steps) {
    if (known[step.expr.index]) continue;
    known[step.expr.index] = true;
    types[step.expr] = step.type;
  }
  return types;
}

ir::Program apply(const validate::ValidProgram& valid, const Edits& edits) {
  const ir::Program& from = valid.program();
  ir::ProgramBuilder to;
  for (const ir::BufferDecl& decl : edits.buffers) to.buffer(decl);
  to.workgroup_size(edits.workgroup_size);

  // By name: sibling scopes that use a name of a variable that goes lose it too, which keeps the program valid.
  std::vector<std::optional<DataType>> gone(from.names().size());
  const auto lose = [&](NodeId id) {
    const LocalId local = valid.facts().statements[id].local;
    if (local.valid()) gone[valid.facts().locals[local].name.index] = valid.facts().locals[local].type;
  };
  // Which statements are left out, and which only as the frame of their body.
  std::vector<bool> dropped(from.nodes().size()), unframed(from.nodes().size());
  const auto drop = [&](NodeId first, NodeId last) {
    for (std::uint32_t index = first.index; index <= last.index; ++index) dropped[index] = true;
  };
  for (std::uint32_t index = 0; index < from.nodes().size(); ++index) {
    const NodeId id{index};
    const Keep keep = edits.nodes[id];
    if (keep == Keep::All || dropped[index]) continue;
    const ir::Node& node = from.node(id);
    const ir::If* branch = std::get_if<ir::If>(&node);
    NodeId end = id;
    if (branch != nullptr) end = branch->end;
    if (const ir::Loop* loop = std::get_if<ir::Loop>(&node)) end = loop->end;
    if (const ir::Block* block = std::get_if<ir::Block>(&node)) end = block->end;
    if (keep == Keep::Nothing) {
      drop(id, end);
      continue;
    }
    if (branch == nullptr && end == id) continue;  // neither has a body
    const bool has_else = branch != nullptr && branch->otherwise.valid();
    if (keep == Keep::Otherwise) {
      if (!has_else) continue;
      drop(id, branch->otherwise);
      unframed[id.index] = unframed[branch->end.index] = true;
      continue;
    }
    if (keep == Keep::ElseAsThen) {
      if (has_else) drop(NodeId{index + 1}, branch->otherwise);
      continue;
    }
    if (has_else) drop(branch->otherwise, NodeId{end.index - 1});
    if (keep == Keep::Body) unframed[index] = unframed[end.index] = true;
  }
  for (std::uint32_t index = 0; index < from.nodes().size(); ++index) {
    const bool declares =
        std::holds_alternative<ir::Let>(from.node(NodeId{index})) || std::holds_alternative<ir::Loop>(from.node(NodeId{index}));
    if (declares && (dropped[index] || unframed[index])) lose(NodeId{index});
  }

  const auto name = [&](NameId id) { return to.name(from.text(id)); };
  IdVector<ExprId, ExprId> moved(from.exprs().size());
  const auto leaf = [&](ExprId id) {
    bool operands = false;
    ir::for_each_operand(from, id, [&](ExprId) { operands = true; });
    return !operands;
  };
  const auto copied = [&](ExprId id, const auto& operand) {
    const ir::Var* var = std::get_if<ir::Var>(&from.expr(id));
    if (var != nullptr && gone[var->name.index]) return transform::add_constant(to, {*gone[var->name.index], {}});
    return to.add(transform::copy_expr(from, from.expr(id), to, operand, name));
  };
  // Each use of what has no operands gets one of its own, to be made smaller by itself.
  const auto use = [&](ExprId id) {
    const bool same = !edits.exprs[id].literal && edits.exprs[id].by == id;
    return same && leaf(id) ? copied(id, [](ExprId operand) { return operand; }) : moved[id];
  };
  for (std::uint32_t index = 0; index < from.exprs().size(); ++index) {
    const ExprId id{index};
    const Instead& instead = edits.exprs[id];
    if (instead.literal) {
      moved[id] = transform::add_constant(to, *instead.literal);
    } else {
      moved[id] = instead.by == id ? copied(id, use) : moved[instead.by];
    }
  }
  for (std::uint32_t index = 0; index < from.nodes().size(); ++index) {
    if (dropped[index] || unframed[index]) continue;
    const ir::Node& node = from.node(NodeId{index});
    if (const ir::Assign* assign = std::get_if<ir::Assign>(&node); assign != nullptr && gone[assign->name.index]) continue;
    transform::copy_node(node, to, use, name);
  }
  return to.finish();
}

}  // namespace vyre::fuzz
