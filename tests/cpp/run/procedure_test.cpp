// Procedures planned for arrays of some lengths, on every backend and device here, beside the same computed on the host.
#include "vyre/run/procedures/procedure.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "support/errors.hpp"
#include "support/places.hpp"
#include "support/programs/programs.hpp"
#include "support/run_program.hpp"
#include "support/words.hpp"
#include "vyre/base/error.hpp"
#include "vyre/run/backends.hpp"

namespace vyre::test {
namespace {

using namespace sample;
using ir::ArrayDecl;
using ir::ArrayId;
using ir::ArrayPart;
using ir::ArrayRole;
using ir::Procedure;
using ir::ProcedureBuilder;
using ir::SizeId;
using ir::SizeOp;
using run::PlannedProcedure;
using run::ProcedurePlans;
using run::Shape;
using run::Storage;
using run::StorageView;

run::ProcedurePlace at(const Place& place) { return run::place_of(*place.backend, place.device.value_or(0), {}); }

ArrayPart whole(ArrayId array) { return {array, {}, {}, {}}; }

// Writes y = x * times + plus, for as many invocations as the grid has.
ir::Program scaled() {
  return Sample()
      .in("x")
      .uniform("times")
      .uniform("plus")
      .out("y")
      .size(64)
      .add(store("y", gid(0), load("x", gid(0)) * load("times", u32(0)) + load("plus", u32(0))))
      .make();
}
ir::Program added() {
  return Sample().in("a").in("b").out("c").size(64).add(store("c", gid(0), load("a", gid(0)) + load("b", gid(0)))).make();
}
ir::Program counted_up() { return Sample().out("x").size(64).add(store("x", gid(0), load("x", gid(0)) + u32(1))).make(); }

// A builder with short ways to write steps.
struct Builder : ProcedureBuilder {
  using ProcedureBuilder::ProcedureBuilder;
  ArrayId input(std::string name, std::uint32_t axes = 1) {
    return array({std::move(name), ArrayRole::Input, DataType::U32, axes, {}, false, nullptr});
  }
  ArrayId in_out(std::string name) { return array({std::move(name), ArrayRole::InOut, DataType::U32, 1, {}, false, nullptr}); }
  ArrayId made(std::string name, ArrayRole role, SizeId length, bool zeros = false) {
    return array({std::move(name), role, DataType::U32, 1, {length}, zeros, nullptr});
  }
  void run(const std::string& name, const ir::Program& given, std::vector<std::variant<ArrayPart, ir::Words>> bound, SizeId elements) {
    const SizeId groups = apply(SizeOp::CeilDiv, elements, literal(64));
    dispatch({name, program(given), std::move(bound), {{groups, literal(1), literal(1)}, {}, false}});
  }
};

struct Memory {
  Memory(const Place& place, const Words& words)
      : storage(place.backend->allocate(place.device, 4 * words.size(), true)), view{storage.get(), 0, 4 * words.size(), 0} {
    storage->write(0, std::as_bytes(std::span(words)), {});
  }
  Words read() const {
    Words words(view.bytes / 4);
    storage->read(0, std::as_writable_bytes(std::span(words)), {});
    return words;
  }
  std::shared_ptr<Storage> storage;
  StorageView view;
};

// Plans for inputs of one axis, and gives the outputs.
std::vector<Words> run_on(const Place& place, ProcedurePlans& plans, const Procedure& procedure, const std::vector<Words>& inputs,
                          const std::vector<std::uint64_t>& numbers = {}) {
  std::vector<Shape> shapes;
  for (const Words& words : inputs) shapes.push_back({words.size()});
  const auto plan = plans.find_or_plan(procedure, shapes, numbers, at(place), {});
  std::vector<Memory> memory;
  std::vector<StorageView> views;
  for (std::size_t k = 0; k < plan->shapes().size(); ++k) {
    // Memory that was used before.
    const bool given = k < inputs.size();
    memory.emplace_back(place, given ? inputs[k] : Words(run::bytes_of(DataType::U32, plan->shapes()[k]) / 4, 0xDEADBEEF));
    views.push_back(memory.back().view);
  }
  plan->submit(views, numbers, {});
  std::vector<Words> results;
  for (const Memory& each : memory) results.push_back(each.read());
  return results;
}

// y = x * 3^k + (3^k - 1) / 2 * plus, by k steps from one array into the other.
Procedure powers() {
  Builder b("powers");
  const ArrayId x = b.input("x");
  const std::uint32_t k = b.declare({"k", DataType::U32}), plus = b.declare({"plus", DataType::U32});
  const SizeId n = b.length(x, 0);
  const ArrayId y = b.made("y", ArrayRole::Output, n), other = b.made("other", ArrayRole::Scratch, n);
  b.run("copy", scaled(), {whole(x), ir::Words{b.literal(1)}, ir::Words{b.literal(0)}, whole(y)}, n);
  b.repeat(b.number(k));
  b.run("scaled", scaled(), {whole(y), ir::Words{b.literal(3)}, ir::Words{b.number(plus)}, whole(other)}, n);
  b.swap(y, other);
  b.end();
  b.result(y);
  return b.finish();
}

Words powers_of(Words x, std::uint64_t k, std::uint64_t plus) {
  for (std::uint64_t turn = 0; turn < k; ++turn) {
    for (std::uint32_t& word : x) word = word * 3 + static_cast<std::uint32_t>(plus);
  }
  return x;
}

TEST(Procedure, runs_repeated_steps_that_exchange_arrays) {
  const Procedure procedure = powers();
  EXPECT_EQ(run::structural_numbers(procedure), (std::vector<bool>{true, false}));
  at_every_place([&](const Place& place) {
    ProcedurePlans plans;
    for (const std::uint64_t k : {0, 1, 2, 5}) {
      for (const std::size_t n : {std::size_t{0}, std::size_t{1}, std::size_t{1000}}) {
        EXPECT_EQ(run_on(place, plans, procedure, {counted(n, 3)}, {k, 9})[1], powers_of(counted(n, 3), k, 9)) << k << ", " << n;
      }
    }
  });
}

TEST(Procedure, is_planned_once_for_numbers_that_occur_only_in_words) {
  const Procedure procedure = powers();
  at_every_place([&](const Place& place) {
    ProcedurePlans plans;
    for (std::uint64_t plus = 0; plus < 20; ++plus) {
      ASSERT_EQ(run_on(place, plans, procedure, {counted(100, 3)}, {3, plus << 27})[1], powers_of(counted(100, 3), 3, plus << 27));
    }
    EXPECT_EQ(plans.made(), 1u);
    run_on(place, plans, procedure, {counted(100, 3)}, {4, 1});
    run_on(place, plans, procedure, {counted(101, 3)}, {4, 1});
    run_on(place, plans, procedure, {counted(100, 5)}, {3, 1});
    EXPECT_EQ(plans.made(), 3u);
  });
}

TEST(Procedure, records_its_steps_once_for_the_same_arrays) {
  const Procedure procedure = powers();
  at_every_place([&](const Place& place) {
    ProcedurePlans plans;
    const std::vector<Shape> shapes = {{500}};
    const std::vector<std::uint64_t> numbers = {4, 1};
    const auto plan = plans.find_or_plan(procedure, shapes, numbers, at(place), {});
    EXPECT_EQ(plan->dispatches(), 5u);
    const Memory x(place, counted(500, 3)), y(place, Words(500));
    const std::array<StorageView, 2> views = {x.view, y.view};
    for (std::uint64_t plus = 0; plus < 10; ++plus) plan->submit(views, std::array<std::uint64_t, 2>{4, plus}, {});
    EXPECT_EQ(y.read(), powers_of(counted(500, 3), 4, 9));
    // While one is executed, another one is recorded for other words.
    EXPECT_LE(plan->times_recorded(), place.device ? 8u : 0u);
    for (std::uint64_t plus = 0; plus < 10; ++plus) {
      const std::uint64_t before = plan->times_recorded();
      plan->submit(views, std::array<std::uint64_t, 2>{4, plus}, {});
      EXPECT_EQ(y.read(), powers_of(counted(500, 3), 4, plus));
      EXPECT_EQ(plan->times_recorded(), before);
    }
  });
}

// Invokes powers twice, on the halves of x, into the halves of an output that began as zeros where nothing else is written; and adds the
// table to what lies between.
Procedure halves() {
  const Procedure inner = powers();
  Builder b("halves");
  const ArrayId x = b.input("x");
  const std::uint32_t seed = b.declare({"seed", DataType::U64});
  const SizeId n = b.length(x, 0), half = b.apply(SizeOp::Div, n, b.literal(2)), rest = b.apply(SizeOp::Sub, n, half);
  const ArrayId y = b.made("y", ArrayRole::Output, b.apply(SizeOp::Add, n, b.literal(64)), true);
  const Words table = counted(64, 1000);
  auto contents = std::make_shared<std::vector<std::byte>>(256);
  std::memcpy(contents->data(), table.data(), 256);
  const ArrayId t = b.array({"t", ArrayRole::Table, DataType::U32, 1, {b.literal(64)}, false, contents});
  const std::uint32_t index = b.procedure(inner);
  const SizeId low = b.apply(SizeOp::Mod, b.number(seed), b.literal(1000));
  b.when(b.apply(SizeOp::Lt, b.literal(1), n));
  b.invoke({index, {{x, {}, b.literal(0), half}, {y, {}, b.literal(0), half}}, {b.literal(2), b.number(seed)}});
  b.otherwise();
  b.clear(whole(y));
  b.end();
  const SizeId second = b.apply(SizeOp::Add, half, b.literal(64));
  b.invoke({index, {{x, {}, half, rest}, {y, {}, second, rest}}, {b.literal(1), b.apply(SizeOp::Mul, low, b.literal(3))}});
  // The table is added to the zeros between the halves.
  const ArrayPart between{y, {}, half, b.literal(64)};
  b.run("scaled", scaled(), {whole(t), ir::Words{b.literal(1)}, ir::Words{low}, between}, b.literal(64));
  b.result(y);
  return b.finish();
}

TEST(Procedure, invokes_others_on_parts_of_its_arrays) {
  const Procedure procedure = halves();
  EXPECT_EQ(run::structural_numbers(procedure), (std::vector<bool>{false}));
  at_every_place([&](const Place& place) {
    ProcedurePlans plans;
    for (const std::size_t n : {std::size_t{0}, std::size_t{1}, std::size_t{2}, std::size_t{777}, std::size_t{2048}}) {
      for (const std::uint64_t seed : {std::uint64_t{5}, std::uint64_t{0xF0001234}}) {
        const Words x = counted(n, 3);
        const std::size_t half = n / 2;
        Words expected = n < 2 ? Words(half) : powers_of(Words(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(half)), 2, seed);
        const std::uint64_t low = seed % 1000;
        for (const std::uint32_t word : counted(64, 1000)) expected.push_back(word + static_cast<std::uint32_t>(low));
        for (const std::uint32_t word : powers_of(Words(x.begin() + static_cast<std::ptrdiff_t>(half), x.end()), 1, low * 3))
          expected.push_back(word);
        ASSERT_EQ(run_on(place, plans, procedure, {x}, {seed})[1], expected) << n << ", " << seed;
      }
    }
    EXPECT_EQ(plans.made(), 5u);
  });
}

TEST(Flattened, names_the_step_behind_each_flat_step_and_the_array_behind_each_flat_array) {
  const Procedure procedure = halves();
  const run::ProcedurePlace place = run::place_of(*run::find_backend("reference"), 0, {});
  const auto table = [&](const ArrayDecl& decl) { return place.backend->allocate(std::nullopt, decl.contents->size(), true); };
  const std::vector<Shape> shapes = {{8}};
  const std::vector<std::uint64_t> numbers = {5};
  const run::FlatSteps flat =
      run::flatten(procedure, {shapes, numbers, [](ir::Limit) { return std::uint64_t{64}; }, place.valid, table}).steps;
  ASSERT_EQ(flat.frames.size(), 3u);
  std::vector<std::uint32_t> callers;  // the step of `halves` that each invocation is
  for (const run::FlatSteps::Frame& frame : flat.frames) {
    EXPECT_EQ(frame.caller, 0u);
    callers.push_back(frame.step);
  }
  EXPECT_EQ(callers, (std::vector<std::uint32_t>{run::FlatSteps::kNoStep, 1, 5}));
  ASSERT_EQ(flat.origins.size(), flat.steps.size());
  EXPECT_EQ(flat.origins.back().frame, 0u);
  EXPECT_EQ(flat.origins.back().step, 6u);
  for (std::size_t k = 0; k < flat.steps.size(); ++k) {
    const auto* dispatch = std::get_if<run::FlatSteps::Dispatch>(&flat.steps[k]);
    if (dispatch == nullptr) continue;
    const bool outermost = flat.places[dispatch->place].what == "dispatch `scaled` in procedure `halves`";
    EXPECT_EQ(flat.origins[k].frame == 0, outermost) << k;
  }
  for (const run::FlatSteps::Array& array : flat.arrays) {
    if (array.frame == 0) {
      EXPECT_EQ(procedure.arrays()[ArrayId{array.decl}].name, array.name);
    }
  }
}

TEST(Procedure, gives_in_outs_and_outputs_back_where_they_were_given_also_after_swaps) {
  Builder b("exchanged");
  const ArrayId x = b.in_out("x");
  const SizeId n = b.length(x, 0);
  const ArrayId y = b.made("y", ArrayRole::Output, n, true), z = b.made("z", ArrayRole::Output, n);
  const ArrayId s = b.made("s", ArrayRole::Scratch, n, true);
  b.run("up", counted_up(), {whole(x)}, n);  // x = given + 1
  b.swap(x, y);                              // x = 0, y = given + 1
  b.run("added", added(), {whole(y), whole(x), whole(z)}, n);
  b.run("up", counted_up(), {whole(x)}, n);  // x = 1
  b.swap(z, s);                              // z = 0, s = given + 1
  b.run("up", counted_up(), {whole(s)}, n);
  b.swap(z, s);  // z = given + 2
  const Procedure procedure = b.finish();
  at_every_place([&](const Place& place) {
    ProcedurePlans plans;
    const Words given = counted(300, 3);
    Words plus_one = given, plus_two = given;
    for (std::uint32_t& word : plus_one) word += 1;
    for (std::uint32_t& word : plus_two) word += 2;
    const std::vector<Words> got = run_on(place, plans, procedure, {given});
    EXPECT_EQ(got[0], Words(300, 1));
    EXPECT_EQ(got[1], plus_one);
    EXPECT_EQ(got[2], plus_two);
  });
}

TEST(Procedure, is_called_from_threads_at_once) {
  const Procedure procedure = powers();
  at_every_place([&](const Place& place) {
    ProcedurePlans plans;
    std::vector<std::thread> threads;
    std::array<bool, 4> right{};
    for (std::uint32_t thread = 0; thread < 4; ++thread) {
      threads.emplace_back([&, thread] {
        right[thread] = true;
        for (std::uint64_t turn = 0; turn < 8; ++turn) {
          const Words x = counted(400, thread + 1);
          right[thread] = right[thread] && run_on(place, plans, procedure, {x}, {3, turn})[1] == powers_of(x, 3, turn);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(right, (std::array<bool, 4>{true, true, true, true}));
  });
}

TEST(Procedure, is_a_step_of_a_sequence) {
  const Procedure procedure = powers();
  at_every_place([&](const Place& place) {
    ProcedurePlans plans;
    const std::vector<Shape> shapes = {{300}};
    const std::vector<std::uint64_t> numbers = {3, 5}, others = {3, 6};
    const auto plan = plans.find_or_plan(procedure, shapes, numbers, at(place), {});
    const Memory x(place, counted(300, 3)), y(place, Words(300)), z(place, Words(300));
    std::vector<run::Step> steps = {*plan->step(std::array<StorageView, 2>{x.view, y.view}, numbers),
                                    *plan->step(std::array<StorageView, 2>{y.view, z.view}, others)};
    const run::JoinedSteps sequence = run::join(*place.backend, place.device, steps);
    plans.clear();
    const Words other = counted(300, 11);
    x.storage->write(0, std::as_bytes(std::span(other)), {});
    sequence.submit(2, {});
    EXPECT_EQ(z.read(), powers_of(powers_of(counted(300, 11), 3, 5), 3, 6));
  });
}

TEST(ProcedurePlans, keep_the_ones_used_last) {
  const Procedure procedure = powers();
  const Place place = host_places()[1];
  ProcedurePlans plans;
  const std::vector<std::uint64_t> numbers = {1, 1};
  const auto plan = [&](std::uint64_t n) {
    const std::vector<Shape> shapes = {{n}};
    return plans.find_or_plan(procedure, shapes, numbers, at(place), {});
  };
  const auto first = plan(1);
  for (std::uint64_t n = 2; n <= ProcedurePlans::kMost; ++n) plan(n);
  EXPECT_EQ(plan(1), first);
  plan(1000);
  EXPECT_EQ(plan(1), first);
  EXPECT_EQ(plans.size(), ProcedurePlans::kMost);
  EXPECT_EQ(plans.made(), ProcedurePlans::kMost + 1);
  plan(2);
  EXPECT_EQ(plans.made(), ProcedurePlans::kMost + 2);
  // One whose scratch memory is all that may be kept.
  plan(std::uint64_t{300} << 20);
  EXPECT_EQ(plans.size(), 1u);
}

std::string message_of(const Procedure& procedure, const std::vector<Shape>& shapes, const std::vector<std::uint64_t>& numbers = {}) {
  ProcedurePlans plans;
  try {
    plans.find_or_plan(procedure, shapes, numbers, at(host_places()[1]), {});
  } catch (const BindingError& error) {
    return std::string("BindingError: ") + error.what();
  } catch (const ArgumentError& error) {
    return std::string("ArgumentError: ") + error.what();
  }
  return "none";
}

TEST(Procedure, names_the_array_or_the_step_whose_size_is_wrong) {
  const auto made = [](const auto& body) {
    Builder b("p");
    const ArrayId x = b.input("x");
    body(b, x, b.length(x, 0));
    return b.finish();
  };
  const auto one_less = [](Builder& b, SizeId n) { return b.apply(SizeOp::Sub, n, b.literal(5)); };
  EXPECT_EQ(message_of(made([&](Builder& b, ArrayId, SizeId n) { b.made("y", ArrayRole::Output, one_less(b, n)); }), {{3}}),
            "ArgumentError: array `y` of procedure `p`: a size is -2, outside of 0 to 2^64 - 1 (3 - 5). Fix: write "
            "vyre.size_max(a, b) - b for a - b, which is 0 where b is larger.");
  EXPECT_EQ(message_of(made([&](Builder& b, ArrayId, SizeId n) {
                         b.made("y", ArrayRole::Output, b.apply(SizeOp::Mul, n, b.literal(std::uint64_t{1} << 31)));
                       }),
                       {{3}}),
            "ArgumentError: array `y` of procedure `p` must be one of at most 4294967295 elements, got shape (6442450944,). Fix: pass one "
            "of at most 4294967295 elements.");
  EXPECT_EQ(message_of(made([&](Builder& b, ArrayId, SizeId n) {
                         b.repeat(one_less(b, n));
                         b.end();
                       }),
                       {{3}}),
            "ArgumentError: a repetition in procedure `p` at steps[0]: a size is -2, outside of 0 to 2^64 - 1 (3 - 5). Fix: write "
            "vyre.size_max(a, b) - b for a - b, which is 0 where b is larger.");
  EXPECT_EQ(message_of(made([&](Builder& b, ArrayId x, SizeId n) {
                         const ArrayId y = b.made("y", ArrayRole::Output, n);
                         b.run("scaled", scaled(), {whole(x), ir::Words{one_less(b, n)}, ir::Words{n}, whole(y)}, n);
                       }),
                       {{3}}),
            "ArgumentError: dispatch `scaled` in procedure `p` at steps[0]: a size is -2, outside of 0 to 2^64 - 1 (3 - 5). Fix: write "
            "vyre.size_max(a, b) - b for a - b, which is 0 where b is larger.");
  EXPECT_EQ(message_of(made([&](Builder& b, ArrayId x, SizeId n) {
                         const ArrayId y = b.made("y", ArrayRole::Output, n);
                         const ArrayPart part{x, {}, b.literal(2), n};
                         b.run("added", added(), {part, whole(x), whole(y)}, n);
                       }),
                       {{3}}),
            "ArgumentError: dispatch `added` in procedure `p` at steps[0]: the slice of array `x` of procedure `p` must be one within its "
            "3 elements, got 3 elements from 2 on. Fix: pass one within its 3 elements.");
  EXPECT_EQ(message_of(made([&](Builder& b, ArrayId, SizeId n) {
                         const ArrayId y = b.made("y", ArrayRole::Output, n), z = b.made("z", ArrayRole::Scratch, b.literal(4));
                         b.swap(y, z);
                       }),
                       {{3}}),
            "ArgumentError: vyre.swap in procedure `p` at steps[0]: `z`, which it exchanges, must be one of shape (3,), got shape (4,). "
            "Fix: pass one of shape (3,).");
  EXPECT_EQ(
      message_of(made([&](Builder& b, ArrayId x, SizeId n) {
                   const ArrayId y = b.made("y", ArrayRole::Output, n);
                   b.dispatch({"added",
                               b.program(added()),
                               {whole(x), whole(x), whole(y)},
                               {{b.apply(SizeOp::Mul, n, b.literal(std::uint64_t{1} << 31)), b.literal(1), b.literal(1)}, {}, false}});
                 }),
                 {{3}}),
      "ArgumentError: dispatch `added` in procedure `p` at steps[0]: its grid must be at most 4294967295 workgroups along an axis, got "
      "6442450944. Fix: pass at most 4294967295 workgroups along an axis.");
  EXPECT_EQ(
      message_of(made([&](Builder& b, ArrayId x, SizeId n) {
                   const ArrayId y = b.made("y", ArrayRole::Output, n);
                   b.run("added", added(), {whole(x), ArrayPart{y, {}, b.literal(0), n}, whole(y)}, n);
                 }),
                 {{3}}),
      "BindingError: dispatch `added` in procedure `p` at steps[0]: arrays `b` and `c` overlap in memory, and one of them is written. "
      "Fix: give each its own array, for instance a copy.");
}

TEST(Procedure, invoked_with_arrays_that_overlap_or_do_not_fit_is_refused) {
  const Procedure inner = powers();
  const auto message = [&](std::uint64_t from, std::uint64_t length) {
    Builder b("p");
    const ArrayId x = b.in_out("x");
    const ArrayPart first{x, {}, b.literal(0), b.literal(8)}, second{x, {}, b.literal(from), b.literal(length)};
    b.invoke({b.procedure(inner), {first, second}, {b.literal(1), b.literal(1)}});
    return message_of(b.finish(), {{16}});
  };
  EXPECT_EQ(message(8, 8), "none");
  EXPECT_EQ(message(7, 8),
            "BindingError: invocation of `powers` in procedure `p` at steps[0]: arrays `x` and `y` overlap in memory, and one of them is "
            "written. Fix: "
            "give each its own array, for instance a copy.");
  EXPECT_EQ(message(8, 7),
            "BindingError: invocation of `powers` in procedure `p` at steps[0]: the array given for output `y` must be one of shape (8,), "
            "got shape (7,). Fix: pass one of shape (8,).");
}

TEST(Procedure, with_too_many_steps_is_refused_in_time) {
  const auto told = [](std::uint64_t turns) {
    return "ArgumentError: procedure `p` has more than 100000 dispatches for these arrays, and a repetition in procedure `p` at steps[0] "
           "has " +
           std::to_string(turns) + " turns. Fix: call it with fewer turns or less data, several times.";
  };
  const auto repeated = [&](std::uint64_t times, bool empty) {
    Builder b("p");
    const ArrayId x = b.in_out("x");
    b.repeat(b.literal(times));
    if (!empty) b.run("up", counted_up(), {whole(x)}, b.length(x, 0));
    b.end();
    return message_of(b.finish(), {{4}});
  };
  EXPECT_EQ(repeated(100'000, false), "none");
  EXPECT_EQ(repeated(100'001, false), told(100'001));
  EXPECT_EQ(repeated(~std::uint64_t{0}, true), told(~std::uint64_t{0}));
  // Many sizes that change with each turn.
  Builder b("p");
  const std::uint32_t turn = b.repeat(b.literal(~std::uint64_t{0}));
  SizeId size = b.turn(turn);
  for (std::uint64_t k = 0; k < 100'000; ++k) size = b.apply(SizeOp::Max, size, b.apply(SizeOp::Mod, size, b.literal(k + 2)));
  b.when(b.apply(SizeOp::Lt, size, b.literal(0)));
  b.end();
  b.end();
  EXPECT_EQ(message_of(b.finish(), {}), told(~std::uint64_t{0}));
}

TEST(Procedure, takes_its_words_from_the_numbers_of_each_call_exactly) {
  Builder b("p");
  const ArrayId x = b.input("x");
  const std::uint32_t number = b.declare({"number", DataType::U64});
  const SizeId n = b.length(x, 0);
  const ArrayId y = b.made("y", ArrayRole::Output, n);
  const SizeId all = b.literal(std::uint64_t{1} << 32);
  const SizeId high = b.apply(SizeOp::Div, b.number(number), all);
  const SizeId low = b.apply(SizeOp::Mod, b.apply(SizeOp::Sub, b.number(number), n), all);
  b.run("scaled", scaled(), {whole(x), ir::Words{high}, ir::Words{low}, whole(y)}, n);
  const Procedure procedure = b.finish();
  at_every_place([&](const Place& place) {
    ProcedurePlans plans;
    EXPECT_EQ(run_on(place, plans, procedure, {Words(4, 10)}, {~std::uint64_t{0}})[1], Words(4, 0xFFFFFFFFu * 10 + 0xFFFFFFFBu));
    EXPECT_EQ(run_on(place, plans, procedure, {Words(4, 10)}, {(std::uint64_t{7} << 32) + 9})[1], Words(4, 75));
    EXPECT_TRUE(test::message_of<ArgumentError>([&] {
                  run_on(place, plans, procedure, {Words(4, 10)}, {3});
                }).starts_with("a size is -1, outside of 0 to 2^64 - 1 (3 - 4). "));
    EXPECT_EQ(plans.made(), 1u);
  });
}

}  // namespace
}  // namespace vyre::test
