#include "vyre/advise/notes.hpp"

#include <algorithm>
#include <tuple>

#include "vyre/advise/note_list.hpp"
#include "vyre/ir/ops.hpp"
#include "vyre/validate/report.hpp"
#include "vyre/validate/rules.hpp"

namespace vyre::advise {
namespace {

using ir::BinOp;

bool is_zero(const ir::Program& program, ExprId id) { return ir::literal_u32(program.expr(id)) == 0u; }

// N003. What stands on the left of 0 is compared the other way round.
void compare_with_zero(NoteWalk& walk, NodeId statement, ExprId id, const ir::Binary& binary) {
  const bool on_left = is_zero(walk.program, binary.left), on_right = is_zero(walk.program, binary.right);
  const bool below = (binary.op == BinOp::Lt && on_right) || (binary.op == BinOp::Gt && on_left);
  const bool not_below = (binary.op == BinOp::Ge && on_right) || (binary.op == BinOp::Le && on_left);
  if (!below && !not_below) return;
  walk.found.push_back({statement, id, Note::N003, {below ? "<" : ">=", below ? "false" : "true"}, std::vector<std::string>()});
}

void collect(NoteWalk& walk) {
  RepeatedEffects repeated(walk);
  ElementsOfGrid elements(walk);
  LoopEnds ends(walk);
  std::vector<bool> compared(walk.program.exprs().size());
  for (std::uint32_t index = 0; index < walk.program.nodes().size(); ++index) {
    const NodeId id{index};
    walk.values.enter(id);
    for (const Step& step : walk.facts.steps_of(id)) {
      const auto* binary = std::get_if<ir::Binary>(&walk.program.expr(step.expr));
      if (binary == nullptr || compared[step.expr.index]) continue;
      compared[step.expr.index] = true;
      compare_with_zero(walk, id, step.expr, *binary);
    }
    repeated.enter(id);
    elements.enter(id);
    ends.enter(id);
  }
  repeated.finish();
  elements.finish();
}

std::vector<Site> sites_of(const ValidProgram& program, const std::vector<FoundNote>& found) {
  std::vector<Site> sites;
  const Facts& facts = program.facts();
  for (const FoundNote& note : found) {
    Site site = Site::of(note.statement);
    const Statement& statement = facts.statements[note.statement];
    for (std::uint32_t k = 0; k < statement.step_count && note.expr.valid(); ++k) {
      if (facts.steps[statement.first_step + k].expr != note.expr) continue;
      site = Site::of(StepId{statement.first_step + k});
      break;
    }
    sites.push_back(site);
  }
  return sites;
}

// Fills in the workgroups of a call of which only the invocations are known.
NotedCall whole(NotedCall call, const ir::WorkgroupSize& size) {
  if (call.workgroups || !call.invocations) return call;
  call.workgroups.emplace();
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::uint32_t asked = (*call.invocations)[axis];
    (*call.workgroups)[axis] = asked / size[axis] + (asked % size[axis] != 0);
  }
  return call;
}

}  // namespace

Diagnostics notes(const ValidProgram& program, const NotedCall& given) {
  const NotedCall call = whole(given, program.program().workgroup_size());
  NoteWalk walk(program, call);
  collect(walk);
  std::vector<Site> sites = sites_of(program, walk.found);
  std::vector<std::size_t> order(sites.size());
  for (std::size_t k = 0; k < order.size(); ++k) order[k] = k;
  // A statement's own notes come after those of its expressions.
  const auto key = [&](std::size_t k) {
    return std::tuple(walk.found[k].statement.index, sites[k].kind == Site::Kind::Node, sites[k].index, walk.found[k].note);
  };
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
  std::vector<Site> in_order;
  in_order.reserve(order.size());
  for (const std::size_t k : order) in_order.push_back(sites[k]);
  std::vector<Place> places = locate(program, in_order);
  Diagnostics made;
  for (std::size_t k = 0; k < order.size(); ++k) {
    const FoundNote& found = walk.found[order[k]];
    const NoteInfo& row = info(found.note);
    made.push_back({std::string(row.id), filled(row.sentence, found.values), std::move(places[k]),
                    found.hint ? filled(row.hint, *found.hint) : std::string()});
  }
  return made;
}

}  // namespace vyre::advise
