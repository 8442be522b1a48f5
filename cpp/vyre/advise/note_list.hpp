// The notes that are found, in whatever order, until they get their places; and what the checks share.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "vyre/advise/note_table.hpp"
#include "vyre/advise/noted_call.hpp"
#include "vyre/validate/note_values.hpp"

namespace vyre::advise {

using namespace validate;

// The most terms of a condition that are looked at. Operands may be shared, so a condition may have far more terms than expressions.
inline constexpr std::size_t kMostConditions = 64;

struct FoundNote {
  NodeId statement;
  ExprId expr;  // an expression of the statement; invalid for the statement itself
  Note note;
  std::vector<std::string> values;               // of the sentence
  std::optional<std::vector<std::string>> hint;  // of the hint; nothing when it does not fit
};

// The data that the checks share while they go through the statements in order, after `values` has entered each.
struct NoteWalk {
  NoteWalk(const ValidProgram& valid, const NotedCall& in) : call(in), program(valid.program()), facts(valid.facts()), values(valid) {}

  const ir::BufferDecl& buffer(BufferId id) const { return program.buffers()[id.index]; }

  const NotedCall& call;
  const ir::Program& program;
  const Facts& facts;
  NoteValues values;
  std::vector<FoundNote> found;
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

// N007: loops whose end wraps around.
class LoopEnds {
 public:
  explicit LoopEnds(NoteWalk& walk);
  ~LoopEnds();
  void enter(NodeId statement);

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace vyre::advise
