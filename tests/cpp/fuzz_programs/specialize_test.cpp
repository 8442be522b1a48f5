// Random programs of which some literals come from a Uniform buffer instead: compiled for what lies there, they give the bytes of the
// program with the literals.
#include "vyre/transform/specialize.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "vyre/fuzz/compare.hpp"
#include "vyre/fuzz/generate.hpp"
#include "vyre/fuzz/operations.hpp"
#include "vyre/ir/data_type.hpp"
#include "vyre/ir/text/print.hpp"
#include "vyre/run/backends.hpp"
#include "vyre/transform/passes.hpp"
#include "vyre/transform/rebuild.hpp"

namespace vyre::fuzz {
namespace {

constexpr const char* kName = "words_of_the_host";

// The literals of type U32 that give loops their bounds, that are compared or divided by, or used in any other way: at most `most` of
// them, chosen by `random`, each an element of a Uniform buffer more.
struct FromHost {
  validate::ValidProgram program;
  std::vector<std::uint32_t> words;
};
FromHost from_host(const validate::ValidProgram& valid, std::size_t most, std::mt19937_64& random) {
  const ir::Program& program = valid.program();
  std::vector<ExprId> literals;
  IdVector<ExprId, std::uint8_t> known(program.exprs().size(), 0);
  const auto add = [&](ExprId id) {
    if (!ir::literal_u32(program.expr(id)) || known[id] != 0) return;
    known[id] = 1;
    literals.push_back(id);
  };
  for (std::uint32_t index = 0; index < program.nodes().size(); ++index) {
    if (const auto* loop = std::get_if<ir::Loop>(&program.node(NodeId{index}))) add(loop->from), add(loop->to);
  }
  const std::size_t bounds = literals.size();
  for (std::uint32_t index = 0; index < program.exprs().size(); ++index) add(ExprId{index});
  // Bounds first: they decide most.
  std::shuffle(literals.begin(), literals.begin() + static_cast<std::ptrdiff_t>(bounds), random);
  std::shuffle(literals.begin() + static_cast<std::ptrdiff_t>(bounds), literals.end(), random);
  if (literals.size() > most) literals.resize(most);

  transform::Rebuild rebuild(valid);
  std::uint32_t binding = 0;
  const auto is_taken = [&](const ir::BufferDecl& buffer) {
    return buffer.access != ir::BufferAccess::Workgroup && buffer.binding == binding;
  };
  while (std::ranges::any_of(program.buffers(), is_taken)) ++binding;
  rebuild.to().buffer(ir::BufferDecl::uniform(kName, binding, ir::DataType::U32));
  const NameId name = rebuild.to().name(kName);
  std::vector<std::uint32_t> words;
  IdVector<ExprId, ExprId> moved(program.exprs().size());
  for (std::uint32_t index = 0; index < program.exprs().size(); ++index) {
    const ExprId id{index};
    if (std::ranges::find(literals, id) == literals.end()) {
      moved[id] = rebuild.copy(id, [&](ExprId operand) { return moved[operand]; });
      continue;
    }
    const ExprId at = rebuild.to().add(ir::Literal::u32(static_cast<std::uint32_t>(words.size())));
    moved[id] = rebuild.to().add(ir::Load{name, at});
    words.push_back(ir::literal_u32(program.expr(id)).value());
  }
  for (std::uint32_t index = 0; index < program.nodes().size(); ++index) {
    rebuild.copy(NodeId{index}, [&](ExprId root) { return moved[root]; });
  }
  return {rebuild.finish(), std::move(words)};
}

TEST(Specialize, random_programs_keep_their_bytes_on_every_backend) {
  constexpr std::uint64_t kFirst = 4'000'000, kSeeds = 400;
  Options options;
  options.statements = 40;
  std::vector<Way> ways(2);
  ways[0].backend = run::find_backend("reference");
  ways[1].backend = run::find_backend("cpu");
  if (run::Backend* vulkan = run::find_backend("vulkan")) {
    for (std::size_t index = 0; const run::DeviceInfo& device : vulkan->devices()) {
      if (device.usable) {
        ways.emplace_back().backend = vulkan;
        ways.back().device = index;
      }
      ++index;
    }
  }
  for (Way& way : ways) {
    way.optimize = run::all_off();
    way.optimize.specialization = way.optimize.everywhere = true;
  }
  std::size_t decided = 0;
  for (std::uint64_t seed = kFirst; seed < kFirst + kSeeds; ++seed) {
    const Case that = generate(seed, options);
    const validate::Verdict verdict = validate::validate(that.program, op_table());
    ASSERT_TRUE(verdict.program.has_value()) << "seed " << seed << ": " << to_string(verdict.diagnostics.front());
    std::vector<Array> expected = run_case(that, *verdict.program, ways[0]);
    std::mt19937_64 random(seed);
    const FromHost from = from_host(transform::inline_calls(*verdict.program), 8, random);
    if (from.words.empty()) continue;
    Case more = that;
    more.arrays.push_back({kName, {}, false});
    more.arrays.back().bytes.resize(4 * from.words.size());
    std::memcpy(more.arrays.back().bytes.data(), from.words.data(), more.arrays.back().bytes.size());
    decided += transform::deciding_elements(from.program).empty() ? 0 : 1;
    // On the devices a part of them: their compilers take most of the time.
    const std::size_t count = seed % 20 == 0 ? ways.size() : 2;
    for (std::size_t way = 0; way < count; ++way) {
      for (const bool optimise : {false, true}) {
        ways[way].optimize.passes = optimise;
        const auto difference = first_difference(expected, run_case(more, from.program, ways[way]));
        ASSERT_FALSE(difference.has_value()) << "seed " << seed << " on " << ways[way].backend->name() << ", buffer `" << difference->buffer
                                             << "` word " << difference->word << ": expected " << difference->expected << ", got "
                                             << difference->got << "\n"
                                             << ir::to_text(from.program.program());
      }
    }
  }
  EXPECT_GE(decided, kSeeds / 3);
  RecordProperty("decided", std::to_string(decided));
}

}  // namespace
}  // namespace vyre::fuzz
