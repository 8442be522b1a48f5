// V018 V019: how large a program may be.
#include "vyre/validate/limits.hpp"

#include <algorithm>

#include "vyre/validate/checks.hpp"

namespace vyre::validate {

void check_V018(const Gathered& program, Report& report) {
  std::uint32_t depth = 0, deepest = 0;
  NodeId first;
  for (std::uint32_t index = 0; index < program.program->nodes().size(); ++index) {
    const ir::Node& node = program.program->node(NodeId{index});
    if (std::holds_alternative<ir::End>(node)) --depth;
    if (!std::holds_alternative<ir::If>(node) && !std::holds_alternative<ir::Loop>(node) && !std::holds_alternative<ir::Block>(node))
      continue;
    deepest = std::max(deepest, ++depth);
    if (depth > kMaxNestingDepth && !first.valid()) first = NodeId{index};
  }
  if (first.valid()) report.add<Message::NestingDepth>(first, deepest);
}

void check_V019(const Gathered& program, Report& report) {
  if (program.over_limit.valid()) report.add<Message::NodeCount>(program.over_limit);
}

}  // namespace vyre::validate
