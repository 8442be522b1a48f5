// The statements of a program, in source order, in one flat array. If, Loop and Block are closed by an End; each knows its
// partner, so that an interpreter's jump, a depth counter and an emitter's indentation come from the same flat walk.
#pragma once

#include <cstdint>
#include <type_traits>
#include <variant>

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
// clang-format on

using Node = std::variant<Let, Assign, Store, If, Else, Loop, Block, End, Barrier, Return>;
static_assert(sizeof(Node) == 20 && std::is_trivially_copyable_v<Node>);

// Calls visit(ExprId) for each expression that the statement evaluates, in evaluation order.
template <class Visit>
void for_each_root(const Node& node, Visit&& visit) {
  match(
      node, [&](const Let& let) { visit(let.value); }, [&](const Assign& assign) { visit(assign.value); },
      [&](const Store& store) {
        visit(store.index);
        visit(store.value);
      },
      [&](const If& branch) { visit(branch.condition); }, [](const Else&) {},
      [&](const Loop& loop) {
        visit(loop.from);
        visit(loop.to);
      },
      [](const Block&) {}, [](const End&) {}, [](const Barrier&) {}, [](const Return&) {});
}

}  // namespace vyre::ir
