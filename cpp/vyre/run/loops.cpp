#include "vyre/run/loops.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <variant>
#include <vector>

namespace vyre::run {

std::string long_loops(std::span<const ir::Program* const> programs) {
  constexpr std::uint64_t kManyTurns = 1u << 16;
  std::vector<std::string> places;  // each one once: equal kernels are several programs
  for (const ir::Program* const program : programs) {
    for (std::uint32_t index = 0; index < program->nodes().size() && places.size() < 2; ++index) {
      const auto* loop = std::get_if<ir::Loop>(&program->node(NodeId{index}));
      const ir::SourcePlace place = program->place(NodeId{index});
      if (loop == nullptr || !place.known()) continue;
      const auto* turns = std::get_if<ir::Literal>(&program->expr(loop->to));
      if (turns != nullptr && turns->low < kManyTurns) continue;
      std::string text = fmt::format("{}:{}", ir::file_name(place.file), place.line);
      if (std::ranges::find(places, text) == places.end()) places.push_back(std::move(text));
    }
  }
  return fmt::format("{}", fmt::join(places, " and "));
}

}  // namespace vyre::run
