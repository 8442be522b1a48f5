// What generated programs promise: valid, the same everywhere for one seed, one answer in every order, and all that the tables list.
#include "vyre/fuzz/generate.hpp"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "vyre/base/diagnostic.hpp"
#include "vyre/fuzz/compare.hpp"
#include "vyre/fuzz/operations.hpp"
#include "vyre/ir/semantics.hpp"
#include "vyre/ir/text/print.hpp"
#include "vyre/run/backends.hpp"
#include "vyre/validate/validate.hpp"

namespace vyre::fuzz {
namespace {

constexpr std::uint64_t kSeeds = 400;

validate::ValidProgram valid(const Case& that) {
  const validate::Verdict verdict = validate::validate(that.program, op_table());
  for (const Diagnostic& diagnostic : verdict.diagnostics) ADD_FAILURE() << "seed " << that.seed << ": " << to_string(diagnostic);
  if (!verdict.program) throw std::runtime_error(ir::to_text(that.program));
  return *verdict.program;
}

std::vector<Way> reference_ways() {
  std::vector<Way> ways;
  for (const run::Optimize& optimize : {run::all_off(), run::Optimize()}) {
    for (const run::Schedule schedule :
         {run::Schedule{}, run::Schedule{run::Schedule::Order::Reversed, 0}, run::Schedule{run::Schedule::Order::Random, 7}}) {
      ways.push_back({run::find_backend("reference"), {}, schedule, optimize});
    }
  }
  return ways;
}

TEST(Generate, gives_the_same_case_for_the_same_seed) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const Case first = generate(seed), second = generate(seed);
    EXPECT_EQ(first.program, second.program);
    EXPECT_EQ(first.arrays, second.arrays);
    EXPECT_EQ(first.later, second.later);
    EXPECT_EQ(first.grid, second.grid);
    EXPECT_FALSE(generate(seed + 1).program == first.program) << "seed " << seed;
  }
}

TEST(Generate, programs_are_valid) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    valid(generate(seed));
    Options clean;
    clean.clean = true;
    valid(generate(seed, clean));
    if (HasFailure()) break;
  }
}

TEST(Generate, programs_give_the_same_bytes_in_every_order_optimised_or_not) {
  const std::vector<Way> ways = reference_ways();
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Case that = generate(seed);
    const Judgement judgement = judge(that, ways, op_table());
    ASSERT_EQ(judgement.kind, Judgement::Kind::Agrees) << "seed " << seed << ", " << judgement.way << ": " << judgement.message << "\n"
                                                       << ir::to_text(that.program);
  }
}

TEST(Generate, sizes_reach_from_tiny_to_large) {
  std::size_t smallest = ~std::size_t{0}, largest = 0;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const std::size_t size = generate(seed).program.nodes().size();
    smallest = std::min(smallest, size);
    largest = std::max(largest, size);
  }
  EXPECT_LE(smallest, 3u);
  EXPECT_GE(largest, 120u);
}

// Narrow elements count as one, so that fewer programs have them all.
std::string element_name(ir::DataType type) { return ir::is_narrow(type) ? "narrow" : std::string(name(type)); }

// Counts what occurs by the names of the tables, so that a new row is asked for at once.
TEST(Generate, every_row_of_every_table_occurs) {
  std::set<std::string> seen;
  const auto saw = [&](std::string kind, std::string_view name) { seen.insert(std::move(kind) + " " + std::string(name)); };
  for (std::uint64_t seed = 0; seed < 6 * kSeeds; ++seed) {
    const Case that = generate(seed);
    const validate::ValidProgram program = valid(that);
    const validate::Facts& facts = program.facts();
    const auto& size = that.program.workgroup_size();
    saw("invocations", std::to_string(size[0] * size[1] * size[2]));
    for (const ir::BufferDecl& decl : that.program.buffers()) saw("buffer of", name(decl.element));
    std::set<std::size_t> measured, accessed;
    for (std::uint32_t index = 0; index < that.program.nodes().size(); ++index) {
      const NodeId id{index};
      const ir::Node& node = that.program.node(id);
      saw("statement", std::to_string(node.index()));
      std::map<ExprId, ir::DataType> types;
      for (const validate::Step& step : facts.steps_of(id)) {
        types[step.expr] = step.type;
        const ir::Expr& expr = that.program.expr(step.expr);
        saw("expression", std::to_string(expr.index()));
        match(
            expr, [](const ir::Literal&) {}, [&](const ir::Var&) { saw("variable of", name(step.type)); },
            [&](const ir::Load&) {
              const ir::BufferDecl& decl = that.program.buffers()[step.buffer.index];
              accessed.insert(step.buffer.index);
              saw("load from", info(decl.access).name);
              saw("load of", name(decl.element));
            },
            [&](const ir::BufLen&) { measured.insert(step.buffer.index); },
            [&](const ir::GridId& grid) { saw("id", std::to_string(static_cast<int>(grid.kind)) + std::to_string(grid.axis)); },
            [&](const ir::Applied auto& it) { saw("operator", info(it.op).name); },
            [&](const ir::Select&) { saw("select of", name(step.type)); },
            [&](const ir::Cast& cast) { saw("cast", std::string(name(types.at(cast.value))) + " " + std::string(name(cast.target))); },
            [&](const ir::Call& call) { saw("call", that.program.text(call.op)); },
            [&](const ir::Lane& lane) { saw("lane of", std::string(name(types.at(lane.value))) + std::to_string(lane.lane)); },
            [&](const ir::Pack& pack) { saw("pack of", name(pack.type)); },
            [&](const ir::Atomic& atomic) {
              accessed.insert(step.buffer.index);
              saw("atomic", info(atomic.op).name);
            });
      }
      if (std::holds_alternative<ir::Store>(node)) {
        const ir::BufferDecl& decl = that.program.buffers()[facts.statements[id].buffer.index];
        accessed.insert(facts.statements[id].buffer.index);
        saw("store to", info(decl.access).name);
        saw("store of", name(decl.element));
      }
    }
    for (std::size_t index = 0; index < that.program.buffers().size(); ++index) {
      const ir::BufferDecl& decl = that.program.buffers()[index];
      const char* use = accessed.contains(index) ? "accessed" : measured.contains(index) ? "measured" : "unused";
      saw(use, std::string(info(decl.access).name) + " " + element_name(decl.element));
    }
  }
  const auto expect = [&](std::string kind, std::string_view name) {
    EXPECT_TRUE(seen.contains(kind + " " + std::string(name))) << kind << " " << name << " never occurs";
  };
  for (std::size_t k = 0; k < std::variant_size_v<ir::Node>; ++k) expect("statement", std::to_string(k));
  for (std::size_t k = 0; k < ir::kExprKinds; ++k) expect("expression", std::to_string(k));
  for (const ir::OpInfo* row : ir::kOps) {
    if (row->is_typed()) expect("operator", row->name);
  }
  for (const ir::AtomicOpInfo& row : ir::kAtomicOps) expect("atomic", row.name);
  for (const ir::CastRow& row : ir::kCasts) {
    // No expression has this type without breaking V013.
    if (row.source == ir::DataType::Bytes) continue;
    expect("cast", std::string(name(row.source)) + " " + std::string(name(row.target)));
  }
  for (const ir::TypeInfo& row : ir::kTypes) {
    expect("buffer of", row.name);
    if (row.lanes == 0) continue;
    for (const char* use : {"load of", "store of"}) expect(use, row.name);
    if (ir::is_narrow(row.type)) continue;
    for (const char* use : {"variable of", "select of"}) expect(use, row.name);
    for (std::uint32_t lane = 0; row.lanes > 1 && lane < row.lanes; ++lane) expect("lane of", std::string(row.name) + std::to_string(lane));
    if (row.lanes > 1) expect("pack of", row.name);
  }
  for (const ir::AccessInfo& access : ir::kAccesses) {
    for (const ir::TypeInfo& type : ir::kTypes) {
      const std::string buffer = std::string(access.name) + " " + element_name(type.type);
      for (const char* use : {"unused", "measured", "accessed"}) {
        // Nothing accesses Bytes (V013), and no private buffer holds them (V037).
        if (type.lanes == 0 && (std::string_view(use) == "accessed" || access.access == ir::BufferAccess::Private)) continue;
        expect(use, buffer);
      }
    }
  }
  for (const ir::AccessInfo& row : ir::kAccesses) {
    expect("load from", row.name);
    if (ir::writable(row.access)) expect("store to", row.name);
  }
  for (const ir::OpTable::Spec& spec : op_table().all()) {
    // Their loops over 64-bit operations cost more than a generated program may.
    const bool too_costly = spec->id == "primitive.u64.gcd" || spec->id == "primitive.u64.lcm";
    if (spec->inlinable() && !too_costly) expect("call", spec->id);
  }
  for (const char* id : {"00", "01", "02", "10", "11", "12", "20", "21", "22"}) expect("id", id);
  for (const char* size : {"1", "3", "7", "32", "64", "128"}) expect("invocations", size);
}

TEST(Generate, every_planted_case_but_a_divergent_barrier_is_valid) {
  for (const PlantInfo& row : kPlants) {
    Options options;
    options.plant = row.plant;
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
      SCOPED_TRACE(std::string(row.name) + ", seed " + std::to_string(seed));
      const Case that = generate(seed, options);
      ASSERT_TRUE(that.planted.has_value());
      EXPECT_EQ(that.planted->plant, row.plant);
      ASSERT_FALSE(that.planted->statements.empty());
      const Diagnostics found = validate::validate(that.program, op_table()).diagnostics;
      if (row.defect == Defect::DivergentBarrier) {
        ASSERT_FALSE(found.empty());
        for (const Diagnostic& diagnostic : found) EXPECT_EQ(diagnostic.rule, "V010") << to_string(diagnostic);
        EXPECT_TRUE(std::holds_alternative<ir::Barrier>(that.program.node(that.planted->statements.back())));
      } else {
        for (const Diagnostic& diagnostic : found) ADD_FAILURE() << to_string(diagnostic);
      }
      if (HasFailure()) return;
    }
  }
}

// Returns on which arrays a plant stands, over some seeds: "storage" or "workgroup", each alone and with " atomic" or " narrow".
std::set<std::string> arrays_with(Plant plant) {
  Options options;
  options.plant = plant;
  std::set<std::string> seen;
  for (std::uint64_t seed = 0; seed < 120; ++seed) {
    const Case that = generate(seed, options);
    for (const ir::BufferDecl& decl : that.program.buffers()) {
      if (decl.name != that.planted->buffer) continue;
      const std::string where = decl.access == ir::BufferAccess::Workgroup ? "workgroup" : "storage";
      seen.insert(where);
      if (decl.atomic) seen.insert(where + " atomic");
      if (ir::is_narrow(decl.element)) seen.insert(where + " narrow");
    }
  }
  return seen;
}

TEST(Generate, plants_beside_atomics_stand_on_storage_and_on_atomic_workgroup_arrays) {
  for (const Plant plant :
       {Plant::PlainBesideAtomic, Plant::LoadBesideAtomic, Plant::AtomicOutOfBounds, Plant::OrderedAtomic, Plant::AtomicsAlone}) {
    SCOPED_TRACE(static_cast<int>(plant));
    const std::set<std::string> seen = arrays_with(plant);
    EXPECT_TRUE(seen.contains("storage"));
    EXPECT_TRUE(seen.contains("workgroup atomic"));
  }
}

TEST(Generate, plants_on_neighbouring_elements_stand_on_narrow_arrays) {
  for (const Plant plant : {Plant::DroppedBarrier, Plant::Neighbour, Plant::SameValue, Plant::NarrowNeighbours}) {
    SCOPED_TRACE(static_cast<int>(plant));
    const std::set<std::string> seen = arrays_with(plant);
    EXPECT_TRUE(seen.contains("storage narrow"));
    EXPECT_TRUE(seen.contains("workgroup narrow"));
  }
}

}  // namespace
}  // namespace vyre::fuzz
