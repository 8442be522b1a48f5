#include "vyre/fuzz/paths.hpp"

#include <fmt/format.h>

namespace vyre::fuzz {

std::vector<std::string> statement_paths(const ir::Program& program) {
  struct List {
    std::string path;
    std::uint32_t next = 0;
  };
  std::vector<std::string> paths;
  std::vector<List> open{{"entry"}};
  for (const ir::Node& node : program.nodes()) {
    if (std::holds_alternative<ir::End>(node) || std::holds_alternative<ir::Else>(node)) {
      open.pop_back();
      if (std::holds_alternative<ir::Else>(node)) open.push_back({fmt::format("{}[{}].otherwise", open.back().path, open.back().next - 1)});
      paths.emplace_back();
      continue;
    }
    paths.push_back(fmt::format("{}[{}]", open.back().path, open.back().next++));
    if (std::holds_alternative<ir::If>(node)) open.push_back({paths.back() + ".then"});
    if (std::holds_alternative<ir::Loop>(node) || std::holds_alternative<ir::Block>(node)) open.push_back({paths.back() + ".body"});
  }
  return paths;
}

}  // namespace vyre::fuzz
