// Memory that runs out, at each allocation of each stage in turn: an exception that says so, nothing lost, and the next call works.
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "support/fakes/failing_memory.hpp"
#include "support/programs/sample_programs.hpp"
#include "support/programs/slow_program.hpp"
#include "support/run_program.hpp"
#include "vyre/base/error.hpp"
#include "vyre/base/interner.hpp"
#include "vyre/emit/wgsl/emit.hpp"
#include "vyre/ir/bytes/wire.hpp"
#include "vyre/ir/handles/handle.hpp"
#include "vyre/ir/handles/resolve.hpp"
#include "vyre/ir/text/parse.hpp"
#include "vyre/ir/text/print.hpp"
#include "vyre/lower/lower.hpp"
#include "vyre/run/cpu/cpu.hpp"
#include "vyre/run/host/workers.hpp"
#include "vyre/run/reference/reference.hpp"
#include "vyre/run/registry.hpp"
#include "vyre/transform/passes.hpp"
#include "vyre/validate/validate.hpp"
#if VYRE_HAS_SPIRV
#include "vyre/emit/spirv/emit.hpp"
#endif

namespace vyre::test {
namespace {

std::uint64_t hash(std::string_view text) { return std::hash<std::string_view>()(text); }

// With calls, loops, branches, atomics and a barrier; every stage has much to do.
constexpr std::string_view kEverything = R"(vyre 1
workgroup_size 2 1 1
buffer given: read u64 binding 0
buffer out: read_write u32 binding 1 output
buffer count: read_write u32 binding 2
buffer tile: workgroup u32 count 2

let x = call("primitive.u64.add", given[gid.x], 3u64)
tile[lid.x] = lane(x, 0) % 5
barrier
let sum = call("primitive.math.clamp", tile[1 - lid.x], 1, 6)
loop k in 0..tile[lid.x] {
  if k == 3 {
    sum = sum ^ out[gid.x + k]
  } else {
    let old = atomic_add(count, k, 1)
    if sum > 9 {
      break
    }
  }
}
out[gid.x] = select(sum > 4, sum << 3, sum / gid.x)
)";

std::vector<ir::Program> programs() {
  std::vector<ir::Program> all = {xor_program(), ir::parse(kEverything)};
  for (const SampleProgram& sample : sample_programs()) {
    if (sample.name == "every_expression" || sample.name == "every_statement" || sample.name == "awkward_names")
      all.push_back(sample.program);
  }
  return all;
}

class MemoryThatFails : public testing::Test {
 protected:
  // A check for each program.
  template <class Work>
  void for_programs(Work work, std::ptrdiff_t step = 1) {
    for (const ir::Program& program : programs()) {
      SCOPED_TRACE(ir::to_text(program));
      fails_cleanly_at_each_allocation([&] { return work(program); }, step);
      if (HasFailure()) return;
    }
  }
  static validate::ValidProgram valid_program() { return valid(ir::parse(kEverything)); }

  static std::uint64_t hash_of_run(run::Backend& backend, const validate::ValidProgram& program, const run::Optimize& optimize = {}) {
    std::vector<Words> arrays;
    for (const BufferId id : program.bound()) arrays.emplace_back(8 * ir::lanes(program.program().buffers()[id.index].element), 5);
    std::uint64_t sum = 0;
    for (const Words& words : run_program(backend, program, std::move(arrays), {2, 1, 1}, {}, optimize)) {
      for (const std::uint32_t word : words) sum = sum * 31 + word;
    }
    return sum;
  }
};

TEST_F(MemoryThatFails, while_a_name_is_kept_leaves_it_unknown) {
  Interner names;
  for (std::size_t k = 0; k < 300; ++k) {
    const std::string name = std::to_string(k) + std::string(3 * k, 'x');
    bool kept = false;
    for (std::ptrdiff_t nth = 1; !kept; ++nth) {
      try {
        const FailingMemory failing(nth, FailingMemory::Kind::Once);
        names.intern(name);
        kept = true;
      } catch (const std::bad_alloc&) {
      }
      ASSERT_EQ(names.find(name).valid(), kept) << name;
    }
    ASSERT_EQ(names.text(names.find(name)), name);
    ASSERT_EQ(names.size(), k + 1);
  }
}

TEST_F(MemoryThatFails, while_a_name_is_kept_takes_no_place_in_the_table) {
  Interner names;
  names.intern("a");
  const std::string name(100'000, 'x');
  int failures = 0;
  for (int k = 0; k < 100; ++k) {
    try {
      const FailingMemory failing(1, FailingMemory::Kind::Exhausted);
      names.intern(name);
    } catch (const std::bad_alloc&) {
      ++failures;
    }
  }
  EXPECT_EQ(failures, 100);
  EXPECT_EQ(names.text(names.intern(name)), name);
  EXPECT_EQ(names.size(), 2u);
}

TEST_F(MemoryThatFails, while_printing_is_reported) {
  for_programs([](const ir::Program& program) { return hash(ir::to_text(program)) ^ hash(ir::to_bytes(program)); });
}

TEST_F(MemoryThatFails, while_parsing_is_reported) {
  for (const ir::Program& program : programs()) {
    const std::string text = ir::to_text(program);
    fails_cleanly_at_each_allocation([&] { return ir::parse(text).hash(); });
  }
}

TEST_F(MemoryThatFails, while_a_parse_error_is_made_is_reported) {
  fails_cleanly_at_each_allocation([] {
    try {
      ir::parse("vyre 1\nworkgroup_size(1, 1, 1)\nstore nothing[%1] = 2\n");
    } catch (const ParseError& error) {
      return hash(error.what());
    }
    return std::uint64_t{0};
  });
}

TEST_F(MemoryThatFails, while_decoding_is_reported) {
  for (const ir::Program& program : programs()) {
    const std::string bytes = ir::to_bytes(program);
    fails_cleanly_at_each_allocation([&] { return ir::from_bytes(std::as_bytes(std::span(bytes))).hash(); });
  }
}

TEST_F(MemoryThatFails, while_taking_apart_and_making_is_reported) {
  for_programs(
      [](const ir::Program& program) {
        const std::vector<ir::NodeHandle> entry = ir::entry_handles(program);
        return ir::make_program(program.buffers(), program.workgroup_size(), entry).hash();
      },
      7);
}

TEST_F(MemoryThatFails, while_validating_is_reported) {
  for_programs(
      [](const ir::Program& program) {
        std::string said;
        for (const Diagnostic& diagnostic : validate::validate(program, run::registered_ops()).diagnostics)
          said += to_string(diagnostic) + "\n";
        return hash(said);
      },
      7);
}

TEST_F(MemoryThatFails, while_inlining_and_optimising_is_reported) {
  const validate::ValidProgram program = valid_program();
  fails_cleanly_at_each_allocation([&] { return transform::optimize(program).program().hash(); });
}

TEST_F(MemoryThatFails, while_lowering_and_emitting_is_reported) {
  const validate::ValidProgram program = valid_program();
  fails_cleanly_at_each_allocation([&] { return hash(lower::to_text(lower::lower(program, {.passes = false}))); });
  const lower::Kernel kernel = lower::lower(program);
  fails_cleanly_at_each_allocation([&] { return hash(wgsl::emit(kernel)); });
#if VYRE_HAS_SPIRV
  fails_cleanly_at_each_allocation([&] {
    const std::vector<std::uint32_t> words = spirv::emit(kernel, {.check_loops = true});
    return hash({reinterpret_cast<const char*>(words.data()), words.size() * 4});
  });
#endif
}

TEST_F(MemoryThatFails, while_the_reference_prepares_and_runs_is_reported) {
  const validate::ValidProgram program = valid_program();
  const auto backend = run::make_reference_backend();
  fails_cleanly_at_each_allocation([&] { return hash_of_run(*backend, program); });
}

TEST_F(MemoryThatFails, while_the_cpu_backend_prepares_and_runs_is_reported) {
  const validate::ValidProgram program = valid_program();
  const auto backend = run::make_cpu_backend({.threads = 1});
  fails_cleanly_at_each_allocation([&] { return hash_of_run(*backend, program); });
}

TEST_F(MemoryThatFails, while_the_cpu_backend_makes_machine_code_is_reported_or_makes_no_difference) {
  const validate::ValidProgram program = valid_program();
  const auto backend = run::make_cpu_backend({.threads = 1});
  run::Optimize compiled;
  compiled.everywhere = true;
  fails_cleanly_at_each_allocation([&] { return hash_of_run(*backend, program, compiled); });
}

TEST_F(MemoryThatFails, while_the_cpu_backend_starts_threads_is_reported_or_makes_no_difference) {
  const auto executable = run::make_cpu_backend({.threads = 4})->prepare(valid(slow_program()), std::nullopt, {});
  fails_cleanly_at_each_allocation([&] {
    Words out(64 * kSlowGroups);
    const run::BufferView views[] = {{std::as_writable_bytes(std::span(out)), static_cast<std::uint32_t>(out.size())}};
    executable->run(views, {kSlowGroups, 1, 1}, {});
    run::end_parked_workers();
    return std::uint64_t{out == slow_program_result()};
  });
}

// A thread that has no memory does nothing, and what it would have done is done by others.
TEST_F(MemoryThatFails, on_a_thread_of_the_cpu_backend_makes_no_difference) {
  // Machine code takes no memory on other threads; the interpreter takes some for its registers.
  run::Optimize interpreted;
  interpreted.compilation = false;
  const auto executable = run::make_cpu_backend({.threads = 4})->prepare(valid(slow_program()), std::nullopt, interpreted);
  // Work for many batches, so that each thread gets some on a busy machine too.
  constexpr std::uint32_t kGroups = 1024;
  const Words wanted = slow_program_result(kGroups);
  {
    Words out(wanted.size());  // what the first call makes stays
    const run::BufferView views[] = {{std::as_writable_bytes(std::span(out)), static_cast<std::uint32_t>(out.size())}};
    executable->run(views, {kGroups, 1, 1}, {});
    run::end_parked_workers();
  }
  std::ptrdiff_t allowed = 0;
  for (bool failed = true; failed && !HasFailure(); ++allowed) {
    SCOPED_TRACE(std::to_string(allowed) + " allocations succeed");
    Words out(wanted.size());
    const run::BufferView views[] = {{std::as_writable_bytes(std::span(out)), static_cast<std::uint32_t>(out.size())}};
    const std::ptrdiff_t before = allocations.live;
    {
      const FailingMemoryElsewhere failing(allowed);
      executable->run(views, {kGroups, 1, 1}, {});
      failed = FailingMemoryElsewhere::has_failed();
    }
    run::end_parked_workers();
    EXPECT_EQ(allocations.live - before, 0) << "bytes are lost";
    EXPECT_EQ(out, wanted);
  }
  EXPECT_GT(allowed, 3) << "nothing was allocated";
}

TEST_F(MemoryThatFails, leaves_the_registry_as_it_was) {
  // The same operation again and again: whether it is known already must make no difference to what is lost.
  ir::OpSpec spec;
  spec.id = "test.memory";
  spec.function().signature = {{ir::DataType::U32}, ir::DataType::U32};
  spec.function().parameters = {"a"};
  spec.function().body = ir::make_program({}, {1, 1, 1}, std::vector{ir::node::let("r", ir::expr::var("a"))});
  for (std::uint32_t version = 1;; ++version) {
    spec.version = version;
    const std::uint64_t generation = run::op_snapshot().generation;
    bool failed = false;
    try {
      const FailingMemory failing(version, FailingMemory::Kind::Once);
      run::register_op(spec);
    } catch (const std::bad_alloc&) {
      failed = true;
    }
    if (!failed) {
      EXPECT_GT(version, 10u);
      break;
    }
    EXPECT_EQ(run::op_snapshot().generation, generation);
    run::register_op(spec);
    EXPECT_EQ(run::op_snapshot().generation, generation + 1);
    EXPECT_EQ(run::registered_op("test.memory")->version, version);
  }
}

}  // namespace
}  // namespace vyre::test
