// Makes Programs from handles. Here Python's operators get their meaning by the types of their operands, and integers without a type get
// the type that stands opposite (python/vyre/reference.md, Operators by type). A Program knows explicit operators and typed literals alone.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "vyre/ir/handle.hpp"
#include "vyre/ir/op_spec.hpp"
#include "vyre/ir/resolve.hpp"

namespace vyre::ir {

// The facts that handles need in order to be resolved, besides themselves.
struct Surroundings {
  // Called once, and only if an expression calls an operation. If it is empty, results of calls have no known type.
  std::function<OpTable()> operations;
  // Variables that are there at the start: the parameters of an operation.
  std::vector<std::pair<std::string, DataType>> variables;
  bool spelled = false;  // see spell_out()
};

// An integer as Python wrote it: below 0 its 64-bit two's complement.
struct Integer {
  std::uint64_t bits = 0;
  bool negative = false;

  // Whether it is a value of a type, or of a vector's components.
  bool fits(DataType type) const;
};

// An operator or an integer that has no meaning where it stands (V039).
struct Mistake {
  enum class Kind : std::uint8_t {
    Operands,   // `left` and `right` are of two types
    Undefined,  // `op` is not defined on `left`
    Literal,    // `integer` is no value of `left`
    Truth,      // `~` of a truth
    Amount,     // the amount of a shift is of type `left`
  };

  Kind kind;
  std::optional<Infix> op{};  // nothing for an integer that is no operand of an operator
  DataType left = DataType::U32, right = DataType::U32;
  Integer integer{};
  bool on_the_left = false;  // of the operator
  NodeId statement{};
  ExprId expr;  // what the program has in place of the operator; for an integer, the integer
};

struct Resolved {
  Program program;
  std::vector<Mistake> mistakes;  // in the order of the statements; the program means nothing unless this is empty
};

// A handle used twice becomes one expression, or one for each of the types that its variables have where it is used; a statement handle
// used twice becomes two statements. Throws ArgumentError when either makes millions of them.
Resolved resolve(std::vector<BufferDecl> buffers, WorkgroupSize workgroup_size, std::span<const NodeHandle> entry,
                 const Surroundings& surroundings, SourcePlace place = {});

// Makes a program of handles that use no operators of Python and no integers without a type.
Program make_program(std::vector<BufferDecl> buffers, WorkgroupSize workgroup_size, std::span<const NodeHandle> entry,
                     SourcePlace place = {});

// A program that spells such operators and integers as calls, for the binary form: entry_handles() of it gives the same handles again.
Program spell_out(std::span<const NodeHandle> entry);

}  // namespace vyre::ir
