// V010 V026: where control goes.
#include "vyre/validate/checks.hpp"
#include "vyre/validate/uniformity.hpp"

namespace vyre::validate {

void check_V010(const Gathered& program, Report& report) {
  for (const DivergentBarrier& found : divergent_barriers(program)) report.add<Message::DivergentBarrier>(found.barrier);
}

void check_V026(const Gathered& program, Report& report) {
  if (program.nodes<ir::Return>().empty()) return;
  enum class List : std::uint8_t { Runs, Returned, Reported };
  std::vector<List> lists{List::Runs};  // those that are open, innermost last
  for (std::uint32_t index = 0; index < program.program->nodes().size(); ++index) {
    const ir::Node& node = program.program->node(NodeId{index});
    if (std::holds_alternative<ir::End>(node)) {
      lists.pop_back();
      continue;
    }
    if (std::holds_alternative<ir::Else>(node)) {
      lists.back() = List::Runs;
      continue;
    }
    if (lists.back() == List::Returned) {
      report.add<Message::AfterReturn>(NodeId{index});
      lists.back() = List::Reported;
    }
    if (std::holds_alternative<ir::Return>(node) && lists.back() == List::Runs) lists.back() = List::Returned;
    if (std::holds_alternative<ir::If>(node) || std::holds_alternative<ir::Loop>(node) || std::holds_alternative<ir::Block>(node)) {
      lists.push_back(List::Runs);
    }
  }
}

}  // namespace vyre::validate
