// Programs run several times with other words of the host: a backend that keeps any of a call is found, and reduced to the calls that
// show it.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "vyre/fuzz/compare.hpp"
#include "vyre/fuzz/generate.hpp"
#include "vyre/fuzz/operations.hpp"
#include "vyre/fuzz/reduce.hpp"
#include "vyre/ir/text/print.hpp"
#include "vyre/run/backends.hpp"
#include "vyre/run/cpu/cpu.hpp"
#include "vyre/run/recording.hpp"

namespace vyre::fuzz {
namespace {

using ir::BufferAccess;

// The cpu backend, but an executable binds what the call before bound to the buffers of one access class.
class Forgetful : public run::Backend {
 public:
  explicit Forgetful(BufferAccess access) : access_(access) {}
  std::string_view name() const override { return "forgetful"; }
  std::vector<std::string> reasons_unavailable() override { return {}; }
  std::vector<run::DeviceInfo> devices() override { return {}; }
  std::unique_ptr<run::Executable> prepare(const validate::ValidProgram& program, std::optional<std::size_t> device,
                                           const run::Optimize& options, const run::RunOptions& waiting) override {
    auto result = std::make_unique<Executable>();
    result->right = right_->prepare(program, device, options, waiting);
    for (const BufferId id : program.bound()) {
      const ir::BufferDecl& decl = program.program().buffers()[id.index];
      result->kept.push_back(decl.access == access_);
      result->writable.push_back(ir::writable(decl.access));
    }
    return result;
  }
  std::unique_ptr<run::Storage> allocate(std::optional<std::size_t>, std::uint64_t, bool) override { return nullptr; }
  std::shared_ptr<run::Recording> record(run::CallsToRecord, const run::RunOptions&, std::span<const run::StorageView>) override {
    return nullptr;
  }

 private:
  struct Executable : run::Executable {
    std::unique_ptr<run::Executable> right;
    std::vector<bool> kept, writable;
    std::vector<std::vector<std::byte>> before;

    void run(std::span<const run::BufferView> buffers, run::Grid grid, const run::RunOptions& options) override {
      std::vector<std::vector<std::byte>> now;
      for (const run::BufferView& view : buffers) now.emplace_back(view.bytes.begin(), view.bytes.end());
      std::vector<std::vector<std::byte>> bound = now;
      for (std::size_t slot = 0; slot < bound.size() && !before.empty(); ++slot) {
        if (kept[slot]) bound[slot] = before[slot];
      }
      std::vector<run::BufferView> views(buffers.begin(), buffers.end());
      for (std::size_t slot = 0; slot < views.size(); ++slot) {
        if (!writable[slot]) views[slot].bytes = bound[slot];
      }
      before = std::move(now);
      right->run(views, grid, options);
    }
  };

  BufferAccess access_;
  std::unique_ptr<run::Backend> right_ = run::make_cpu_backend({.threads = 1});
};

// What is left of a program may loop for ever.
constexpr Patience kShort = std::chrono::milliseconds(500);

Judgement judged(const Case& that, run::Backend& backend) {
  Way way;
  way.backend = &backend;
  return judge(that, std::array{way}, op_table(), {}, kShort);
}

TEST(Calls, later_ones_bind_arrays_of_the_same_names_and_sizes) {
  std::size_t several = 0, many = 0, with_uniforms = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const Case that = generate(seed);
    for (const Arrays& arrays : that.later) {
      ASSERT_EQ(arrays.size(), that.arrays.size());
      for (std::size_t k = 0; k < arrays.size(); ++k) {
        EXPECT_EQ(arrays[k].buffer, that.arrays[k].buffer);
        EXPECT_EQ(arrays[k].bytes.size(), that.arrays[k].bytes.size());
        EXPECT_EQ(arrays[k].zeros, that.arrays[k].zeros);
      }
    }
    several += that.later.empty() ? 0 : 1;
    // More than a backend compiles kernels for.
    many += that.later.size() > 4 ? 1 : 0;
    const auto is_uniform = [](const ir::BufferDecl& decl) { return decl.access == BufferAccess::Uniform; };
    if (std::ranges::none_of(that.program.buffers(), is_uniform)) continue;
    ++with_uniforms;
    EXPECT_FALSE(that.later.empty()) << "seed " << seed;
  }
  EXPECT_GE(several, 150u);
  EXPECT_GE(with_uniforms, 120u);
  EXPECT_GE(many, 8u);
}

TEST(Calls, a_backend_that_keeps_the_uniform_words_of_a_call_is_found_and_reduced_to_two_calls) {
  Forgetful backend(BufferAccess::Uniform);
  const std::unique_ptr<run::Backend> right = run::make_cpu_backend({.threads = 1});
  std::size_t found = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const Case that = generate(seed);
    const Judgement judgement = judged(that, backend);
    if (judgement.kind == Judgement::Kind::Agrees) continue;
    ASSERT_EQ(judgement.kind, Judgement::Kind::Differs) << "seed " << seed << ": " << judgement.message;
    EXPECT_GE(judgement.difference->call, 1u);
    EXPECT_EQ(judgement.message.substr(0, 8), "in call ") << judgement.message;
    if (++found > 3) continue;
    // A smaller program with a race may differ on a right backend too.
    const auto shows = [&](const Case& candidate) {
      return judged(candidate, *right).kind == Judgement::Kind::Agrees && judged(candidate, backend).kind == Judgement::Kind::Differs;
    };
    const Reduced reduced = reduce(that, shows, op_table());
    EXPECT_EQ(calls(reduced.smallest), 2u) << "seed " << seed;
    EXPECT_LE(reduced.smallest.program.nodes().size(), 12u) << "seed " << seed << "\n" << ir::to_text(reduced.smallest.program);
  }
  EXPECT_GE(found, 15u);
  RecordProperty("found", std::to_string(found));
}

TEST(Calls, a_backend_that_keeps_the_read_only_arrays_of_a_call_is_found) {
  Forgetful backend(BufferAccess::ReadOnly);
  std::size_t found = 0;
  for (std::uint64_t seed = 0; seed < 1200; ++seed) found += judged(generate(seed), backend).kind == Judgement::Kind::Differs ? 1 : 0;
  EXPECT_GE(found, 15u);
}

TEST(Calls, a_fault_of_one_call_is_reduced_to_that_call) {
  Case that;
  for (std::uint64_t seed = 0; calls(that) < 6; ++seed) that = generate(seed);
  const Arrays wanted = arrays_of(that, 4);
  const Reduced reduced = reduce(
      that, [&](const Case& candidate) { return candidate.arrays == wanted || candidate.later.size() > 3; }, op_table());
  EXPECT_TRUE(reduced.smallest.later.empty());
  EXPECT_EQ(reduced.smallest.arrays, wanted);
}

TEST(Calls, a_fault_of_two_calls_is_reduced_to_these_two) {
  Case that;
  for (std::uint64_t seed = 0; calls(that) < 6; ++seed) that = generate(seed);
  // Calls whose arrays are those of call 1 and, later, of call 4.
  const Arrays first = arrays_of(that, 1), second = arrays_of(that, 4);
  const auto shows = [&](const Case& candidate) {
    std::size_t call = 0;
    while (call < calls(candidate) && arrays_of(candidate, call) != first) ++call;
    while (++call < calls(candidate)) {
      if (arrays_of(candidate, call) == second) return true;
    }
    return false;
  };
  ASSERT_TRUE(shows(that));
  const Reduced reduced = reduce(that, shows, op_table());
  ASSERT_EQ(calls(reduced.smallest), 2u);
  EXPECT_EQ(reduced.smallest.arrays, first);
  EXPECT_EQ(reduced.smallest.later[0], second);
}

TEST(Calls, the_hash_of_the_output_is_of_all_calls) {
  Case that;
  for (std::uint64_t seed = 0; that.later.empty() || judge(that, {}, op_table()).output == 0; ++seed) that = generate(seed);
  Case shorter = that;
  shorter.later.pop_back();
  EXPECT_NE(judge(that, {}, op_table()).output, judge(shorter, {}, op_table()).output);
}

}  // namespace
}  // namespace vyre::fuzz
