// The statements of a program, in source order, in one flat array. If, Loop and Block are closed by an End; each knows its
// partner, so that an interpreter's jump, a depth counter and an emitter's indentation come from the same flat walk.
#pragma once

#include <cstdint>
#include <type_traits>
#include <variant>

#include "vyre/base/fields.hpp"
#include "vyre/base/id.hpp"
#include "vyre/base/overloaded.hpp"

namespace vyre::ir {

// clang-format off
struct Let     { NameId name; ExprId value; };                        // visible from the next statement to the end of its block
struct Assign  { NameId name; ExprId value; };
struct Store   { NameId buffer; ExprId index, value; };               // no effect when index >= length
struct If      { ExprId condition; NodeId otherwise, end; };          // `otherwise` is the Else, invalid when there is none
struct Else    { NodeId opener, end; };                               // `opener` is the If
struct Loop    { NameId variable; ExprId from, to; NodeId end; };     // half-open; bounds evaluated once, at entry
struct Block   { NodeId end; };
struct End     { NodeId opener; };                                    // `opener` is the If, Loop or Block
struct Barrier {};                                                    // orders storage and workgroup memory for the workgroup
struct Return  {};                                                    // ends this invocation only
struct Break   {};                                                    // leaves the innermost Loop around it
// clang-format on

using Node = std::variant<Let, Assign, Store, If, Else, Loop, Block, End, Barrier, Return, Break>;
static_assert(sizeof(Node) == 20 && std::is_trivially_copyable_v<Node>);

// The number of a statement's kind in the binary form and in hashes.
inline std::uint32_t kind_number(const Node& node) {
  struct Number {
#define NODE(kind, number) \
  std::uint32_t operator()(const kind&) const { return number; }
#include "vyre/ir/kinds.def"
  };
  return std::visit(Number{}, node);
}

// Calls visit(field) for each field of a statement, in the order of declaration, which is also that of evaluation and of the binary
// form.
template <class N, class Visit>
requires std::is_same_v<std::remove_const_t<N>, Node>
void for_each_field(N& node, Visit&& visit) {
  std::visit([&](auto& alternative) { vyre::for_each_field(alternative, visit); }, node);
}

// Calls visit(ExprId) for each expression that the statement evaluates, in evaluation order.
template <class Visit>
void for_each_root(const Node& node, Visit&& visit) {
  for_each_field(node, overloaded{[&](const ExprId& id) { visit(id); }, [](const auto&) {}});
}

// Returns the statement with its expressions and names replaced: root(ExprId) -> ExprId and name(NameId) -> NameId. The ids of other
// statements stay as they are.
template <class Root, class Name>
Node map(Node node, Root&& root, Name&& name) {
  for_each_field(node, overloaded{[&](ExprId& id) { id = root(id); }, [&](NameId& id) { id = name(id); }, [](auto&) {}});
  return node;
}

}  // namespace vyre::ir
