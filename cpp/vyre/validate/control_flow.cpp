// V010 V026 V038: where control goes.
#include "vyre/validate/checks.hpp"
#include "vyre/validate/uniformity.hpp"

namespace vyre::validate {
namespace {

// The statements that control flow does not reach, once a list of statements, and the Breaks that have no Loop to leave.
struct Found {
  std::vector<NodeId> after_return, after_break, break_outside;
};

Found unreachable(const Gathered& program) {
  Found found;
  if (program.nodes<ir::Return>().empty() && program.nodes<ir::Break>().empty()) return found;
  enum class List : std::uint8_t { Runs, Returned, Left, Reported };
  struct Open {
    List list = List::Runs;
    bool in_loop = false;
  };
  std::vector<Open> open{{}};  // the innermost last
  for (std::uint32_t index = 0; index < program.program->nodes().size(); ++index) {
    const NodeId id{index};
    const ir::Node& node = program.program->node(id);
    if (std::holds_alternative<ir::End>(node)) {
      open.pop_back();
      continue;
    }
    Open& here = open.back();
    if (std::holds_alternative<ir::Else>(node)) {
      here.list = List::Runs;
      continue;
    }
    const bool reported = here.list == List::Returned || here.list == List::Left;
    if (reported) {
      (here.list == List::Returned ? found.after_return : found.after_break).push_back(id);
      here.list = List::Reported;
    }
    if (std::holds_alternative<ir::Return>(node) && here.list == List::Runs) here.list = List::Returned;
    if (std::holds_alternative<ir::Break>(node)) {
      // Outside of a loop it leaves nothing, so what follows it would run.
      if (here.in_loop && here.list == List::Runs) here.list = List::Left;
      if (!here.in_loop && !reported) found.break_outside.push_back(id);
    }
    const bool loop = std::holds_alternative<ir::Loop>(node);
    if (loop || std::holds_alternative<ir::If>(node) || std::holds_alternative<ir::Block>(node)) {
      open.push_back({List::Runs, loop || here.in_loop});
    }
  }
  return found;
}

}  // namespace

void check_V010(const Gathered& program, Report& report) {
  for (const DivergentBarrier& found : divergent_barriers(program)) report.add<Message::DivergentBarrier>(found.barrier);
}

void check_V026(const Gathered& program, Report& report) {
  for (const NodeId id : unreachable(program).after_return) report.add<Message::AfterReturn>(id);
}

void check_V038(const Gathered& program, Report& report) {
  if (program.nodes<ir::Break>().empty()) return;
  const Found found = unreachable(program);
  for (const NodeId id : found.break_outside) report.add<Message::BreakOutside>(id);
  for (const NodeId id : found.after_break) report.add<Message::AfterBreak>(id);
}

}  // namespace vyre::validate
