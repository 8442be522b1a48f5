#include "vyre/run/checks/statement_path.hpp"

#include <fmt/format.h>

namespace vyre::run {

std::vector<std::string> statement_paths(const ir::Program& program, std::span<const NodeId> statements) {
  struct List {
    std::string path;
    std::uint32_t next = 0;
  };
  std::vector<std::string> result;
  std::vector<List> lists{{"entry"}};
  for (std::uint32_t index = 0; result.size() < statements.size(); ++index) {
    const NodeId id{index};
    auto here = [&] { return fmt::format("{}[{}]", lists.back().path, lists.back().next); };
    if (id == statements[result.size()]) result.push_back(here());
    auto open = [&](std::string_view list) { lists.push_back({here() + std::string(list)}); };
    auto pass = [&] { ++lists.back().next; };
    match(
        program.node(id), [&](const ir::If&) { open(".then"); }, [&](const ir::Loop&) { open(".body"); },
        [&](const ir::Block&) { open(".body"); },
        [&](const ir::Else&) {
          lists.pop_back();
          open(".otherwise");
        },
        [&](const ir::End&) {
          lists.pop_back();
          pass();
        },
        [&](const ir::Let&) { pass(); }, [&](const ir::Assign&) { pass(); }, [&](const ir::Store&) { pass(); },
        [&](const ir::Barrier&) { pass(); }, [&](const ir::Return&) { pass(); }, [&](const ir::Break&) { pass(); });
  }
  return result;
}

std::string statement_path(const ir::Program& program, NodeId statement) { return statement_paths(program, {&statement, 1}).front(); }

}  // namespace vyre::run
