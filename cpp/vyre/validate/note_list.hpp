// The notes that are found, in whatever order, until they get their places; and what the checks share.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "vyre/validate/note_table.hpp"
#include "vyre/validate/note_values.hpp"
#include "vyre/validate/noted_call.hpp"

namespace vyre::validate {

struct FoundNote {
  NodeId statement;
  ExprId expr;  // an expression of the statement; invalid for the statement itself
  Note note;
  std::vector<std::string> values;  // of the sentence
  std::vector<std::string> hint;    // of the hint; empty when it does not fit
};

// The data that the checks share while they go through the statements in order, after `values` has entered each.
struct NoteWalk {
  NoteWalk(const ValidProgram& valid, const NotedCall& in) : call(in), program(valid.program()), facts(valid.facts()), values(valid) {}

  const ir::BufferDecl& buffer(BufferId id) const { return program.buffers()[id.index]; }
  // A name for a variable that the program does not have, another one at each call.
  std::string new_name(std::string_view stem);

  const NotedCall& call;
  const ir::Program& program;
  const Facts& facts;
  NoteValues values;
  std::vector<FoundNote> found;

 private:
  std::size_t names_given_ = 0;
};

// N001 and N002: what statements evaluate anew.
class RepeatedEffects {
 public:
  explicit RepeatedEffects(NoteWalk& walk);
  ~RepeatedEffects();
  void enter(NodeId statement);
  void finish();

 private:
  class State;
  std::unique_ptr<State> state_;
};

// N004, N005 and N006: which elements the invocations of a grid store to.
class ElementsOfGrid {
 public:
  explicit ElementsOfGrid(NoteWalk& walk);
  ~ElementsOfGrid();
  void enter(NodeId statement);
  void finish();

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace vyre::validate
