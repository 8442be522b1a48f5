// Edits parts of a program and leaves the rest as it is. The reducer tries one set of edits at a time.
#pragma once

#include <optional>
#include <vector>

#include "vyre/fuzz/case.hpp"
#include "vyre/transform/rebuild.hpp"

namespace vyre::fuzz {

enum class Keep : std::uint8_t {
  All,
  Nothing,     // with everything inside
  Body,        // of an If, Loop or Block, in its place; of an If without its Else
  Otherwise,   // the Else's statements, in the place of the If
  NoElse,      // an If without its Else
  ElseAsThen,  // an If with its Else's statements alone
};

// Replaces an expression in every statement: by an earlier expression, or by a literal.
struct Instead {
  ExprId by;
  std::optional<transform::Constant> literal;  // wins over `by`
};

struct Edits {
  IdVector<NodeId, Keep> nodes;
  IdVector<ExprId, Instead> exprs;
  std::vector<ir::BufferDecl> buffers;
  ir::WorkgroupSize workgroup_size{1, 1, 1};

  explicit Edits(const ir::Program& program);
};

// Variables whose declaration goes become zeros, and assignments to them go too. The result need not be valid.
ir::Program apply(const validate::ValidProgram& program, const Edits& edits);

// The type of each expression, in the first statement that evaluates it.
IdVector<ExprId, ir::DataType> types_of(const validate::ValidProgram& program);

}  // namespace vyre::fuzz
