// Arrays that stay on their device, and planned calls, on every backend and device here: the same bytes as a call with host arrays.
#include "vyre/run/storage.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "support/conformance.hpp"
#include "support/errors.hpp"
#include "support/places.hpp"
#include "support/prepared.hpp"
#include "support/programs/programs.hpp"
#include "support/run_program.hpp"
#include "support/words.hpp"
#include "vyre/base/error.hpp"
#include "vyre/ir/ops.hpp"
#include "vyre/run/backends.hpp"
#include "vyre/run/checks/checks.hpp"
#include "vyre/run/data_grid.hpp"
#include "vyre/run/host/host_storage.hpp"

namespace vyre::test {
namespace {

using namespace sample;
using run::Grid;
using run::Storage;
using run::StorageView;

// Arrays of one call, each in a storage of its own that begins `before` bytes earlier.
struct Resident {
  Resident(const Place& place, const validate::ValidProgram& program, const std::vector<Words>& arrays, std::uint64_t before) {
    for (std::size_t slot = 0; slot < arrays.size(); ++slot) {
      const std::uint64_t bytes = 4 * arrays[slot].size();
      storages.push_back(place.backend->allocate(place.device, before + bytes, false));
      storages.back()->write(0, bytes_of(Words(before / 4, 0xDEADBEEF)), {});
      storages.back()->write(before, bytes_of(arrays[slot]), {});
      const ir::BufferDecl& buffer = program.program().buffers()[program.bound()[slot].index];
      views.push_back({storages.back().get(), before, bytes, run::buffer_length(buffer, bytes)});
    }
  }
  std::vector<Words> read() {
    std::vector<Words> arrays;
    for (const StorageView& view : views) {
      Words before(view.offset / 4);
      view.storage->read(0, std::as_writable_bytes(std::span(before)), {});
      EXPECT_EQ(before, Words(before.size(), 0xDEADBEEF)) << "beside the array";
      arrays.emplace_back(view.bytes / 4);
      view.storage->read(view.offset, std::as_writable_bytes(std::span(arrays.back())), {});
    }
    return arrays;
  }
  std::vector<std::unique_ptr<Storage>> storages;
  std::vector<StorageView> views;
};

validate::ValidProgram xor_program() {
  return valid(Sample().in("a").in("b").out("c").size(64).add(store("c", gid(0), load("a", gid(0)) ^ load("b", gid(0)))).make());
}

TEST(Storage, holds_what_was_written_and_zeros_before) {
  at_every_place([](const Place& place) {
    // Beyond a chunk of staging memory, and not a whole number of them.
    for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{1000}, std::size_t{5'000'003}}) {
      const auto storage = place.backend->allocate(place.device, 4 * count, true);
      EXPECT_EQ(storage->bytes(), 4 * count);
      Words got(count, 1);
      storage->read(0, std::as_writable_bytes(std::span(got)), {});
      EXPECT_EQ(got, Words(count, 0));
      Words given = counted(count, 3);
      storage->write(0, bytes_of(given), {});
      storage->read(0, std::as_writable_bytes(std::span(got)), {});
      EXPECT_EQ(got, given);
      if (count < 3) continue;
      const Words part = {1, 2};
      storage->write(4, bytes_of(part), {});
      std::copy(part.begin(), part.end(), given.begin() + 1);
      storage->read(0, std::as_writable_bytes(std::span(got)), {});
      EXPECT_EQ(got, given);
    }
  });
}

TEST(Storage, that_is_zeroed_is_so_where_memory_was_used_before) {
  at_every_place([](const Place& place) {
    for (const std::size_t count : {std::size_t{100}, std::size_t{700'000}}) {
      for (int turn = 0; turn < 3; ++turn) {
        const auto storage = place.backend->allocate(place.device, 4 * count, true);
        Words got(count, 1);
        storage->read(0, std::as_writable_bytes(std::span(got)), {});
        EXPECT_EQ(got, Words(count, 0)) << "turn " << turn;
        storage->write(0, bytes_of(Words(count, 0xFFFFFFFF)), {});
      }
    }
  });
}

class PlannedConformance : public testing::TestWithParam<std::size_t> {};

TEST_P(PlannedConformance, gives_the_expected_words) {
  const ConformanceCase& given = conformance_cases()[GetParam()];
  const validate::ValidProgram program = valid(given.program);
  at_every_place([&](const Place& place) {
    const auto executable = prepared(*place.backend, program, place.device);
    // Where every device can bind an array, and where none with an alignment can.
    for (const std::uint64_t before : {0, 4}) {
      SCOPED_TRACE(before);
      Resident resident(place, program, given.given, before);
      run::check_call(program, resident.views, given.grid);
      executable->plan(resident.views, given.grid)->submit(resident.views, {}, {});
      EXPECT_EQ(resident.read(), given.expected);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Cases, PlannedConformance, testing::Range<std::size_t>(0, conformance_cases().size()),
                         [](const auto& info) { return conformance_cases()[info.param].name; });

TEST(RecordedCall, submitted_often_sees_what_the_calls_before_it_wrote) {
  const validate::ValidProgram program =
      valid(Sample().in("a").out("sum").size(64).add(store("sum", gid(0), load("sum", gid(0)) + load("a", gid(0)))).make());
  at_every_place([&](const Place& place) {
    const auto executable = prepared(*place.backend, program, place.device);
    Resident resident(place, program, {counted(1000, 3), Words(1000, 1)}, 0);
    const auto plan = executable->plan(resident.views, {16, 1, 1});
    Words expected(1000, 1);
    for (int turn = 1; turn <= 120; ++turn) {
      plan->submit(resident.views, {}, {});
      for (std::size_t k = 0; k < expected.size(); ++k) expected[k] += static_cast<std::uint32_t>(k) * 3 + 7;
      if (turn % 50 == 1) {
        EXPECT_EQ(resident.read()[1], expected) << "turn " << turn;
      }
    }
    EXPECT_EQ(resident.read()[1], expected);
  });
}

TEST(RecordedCall, of_a_grid_of_nothing_does_nothing) {
  const validate::ValidProgram program = xor_program();
  at_every_place([&](const Place& place) {
    const auto executable = prepared(*place.backend, program, place.device);
    Resident resident(place, program, {Words(10, 1), Words(10, 2), Words(10, 9)}, 0);
    for (const Grid grid : {Grid{0, 1, 1}, Grid{1, 0, 1}, Grid{1, 1, 0}})
      executable->plan(resident.views, grid)->submit(resident.views, {}, {});
    EXPECT_EQ(resident.read()[2], Words(10, 9));
  });
}

// Each turn reads the array of the turn before, whose memory comes back while the device still works with it.
TEST(Storage, that_is_dropped_while_the_device_works_makes_room_for_the_next) {
  const validate::ValidProgram slow = valid(Sample()
                                                .in("a")
                                                .out("b")
                                                .size(64)
                                                .add(let("x", load("a", gid(0))))
                                                .add(loop("k", u32(0), u32(2000), {assign("x", var("x") * u32(1664525) + u32(1013904223))}))
                                                .add(store("b", gid(0), var("x")))
                                                .make());
  // A slab's block, and a block with a buffer of its own.
  for (const std::size_t count : {std::size_t{100}, std::size_t{300'000}}) {
    at_every_place([&](const Place& place) {
      const bool gpu_like = place.name.ends_with(", staged");
      // The reference would take minutes.
      if (!place.device && count > 1000) return;
      const auto executable = prepared(*place.backend, slow, place.device);
      Words expected = counted(count, 3);
      std::unique_ptr<Storage> last = place.backend->allocate(place.device, 4 * count, false);
      last->write(0, bytes_of(expected), {});
      std::set<std::uint64_t> memories = {last->id()};
      const std::uint32_t threads = 640;
      for (int turn = 0; turn < 12; ++turn) {
        // Every other one is zeroed, which is a submission of its own.
        std::unique_ptr<Storage> next = place.backend->allocate(place.device, 4 * count, turn % 2 == 0);
        memories.insert(next->id());
        const StorageView views[] = {{last.get(), 0, 4 * count, static_cast<std::uint32_t>(count)},
                                     {next.get(), 0, 4 * count, static_cast<std::uint32_t>(count)}};
        executable->plan(views, {threads / 64, 1, 1})->submit(views, {}, {});
        // What a program does not write is what was in the memory: only the written elements are compared.
        for (std::size_t k = 0; k < std::min<std::size_t>(count, threads); ++k) {
          for (int step = 0; step < 2000; ++step) expected[k] = expected[k] * 1664525 + 1013904223;
        }
        last = std::move(next);
      }
      Words got(std::min<std::size_t>(count, threads));
      last->read(0, std::as_writable_bytes(std::span(got)), {});
      expected.resize(got.size());
      EXPECT_EQ(got, expected);
      if (gpu_like) {
        EXPECT_LE(memories.size(), 2u);
      }
    });
  }
}

// Blocks go from thread to thread while the device works with them; each thread looks at some of its results.
TEST(Storage, is_made_and_dropped_by_many_threads_at_once) {
  const validate::ValidProgram program = xor_program();
  at_every_place([&](const Place& place) {
    const auto executable = prepared(*place.backend, program, place.device);
    std::atomic<int> wrong = 0;
    std::vector<std::thread> threads;
    for (std::uint32_t thread = 0; thread < 4; ++thread) {
      threads.emplace_back([&, thread] {
        std::mt19937 random(thread);
        for (std::uint32_t turn = 0; turn < 10; ++turn) {
          const std::size_t count = std::array<std::size_t, 3>{64, 1500, 280'000}[random() % (place.device ? 3 : 2)];
          const Words a = counted(count, 2 * random() + 1), b = counted(count, thread + 3);
          Resident resident(place, program, {a, b, Words(count, 0xEEEEEEEE)}, 0);
          executable->plan(resident.views, {static_cast<std::uint32_t>((count + 63) / 64), 1, 1})->submit(resident.views, {}, {});
          if (turn % 2 == 0 && resident.read()[2] != xor_of(a, b)) ++wrong;
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(wrong, 0);
  });
}

TEST(RecordedCall, is_submitted_from_many_threads_at_once) {
  const validate::ValidProgram program =
      valid(Sample().out("count").size(64).add(let("old", atomic(AtomicOp::Add, "count", u32(0), u32(1)))).make());
  at_every_place([&](const Place& place) {
    const auto executable = prepared(*place.backend, program, place.device);
    Resident resident(place, program, {Words(1, 0)}, 0);
    const auto plan = executable->plan(resident.views, {2, 1, 1});
    std::vector<std::thread> threads;
    for (int k = 0; k < 4; ++k) {
      threads.emplace_back([&] {
        for (int turn = 0; turn < 50; ++turn) plan->submit(resident.views, {}, {});
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(resident.read()[0], Words{4 * 50 * 128});
  });
}

// Sequences of additions among parts of three storages, drawn at random, beside the same additions on the host.
TEST(JoinedSteps, give_what_their_calls_give_one_after_the_other) {
  const validate::ValidProgram program =
      valid(Sample().in("a").out("sum").size(64).add(store("sum", gid(0), load("sum", gid(0)) * u32(3) + load("a", gid(0)))).make());
  constexpr std::size_t kWords = 1000, kParts = 4, kPart = kWords / kParts;
  at_every_place([&](const Place& place) {
    const auto executable = prepared(*place.backend, program, place.device);
    for (const std::uint32_t seed : {1u, 2u, 3u, 4u}) {
      SCOPED_TRACE("seed " + std::to_string(seed));
      std::mt19937 random(seed);
      // Every other one begins its parts where devices cannot bind them.
      const std::uint64_t shift = seed % 2 == 0 ? 4 : 0;
      std::vector<std::unique_ptr<Storage>> storages;
      std::vector<Words> expected;
      for (std::uint32_t k = 0; k < 3; ++k) {
        expected.push_back(counted(kWords + 1, 3 + k));
        storages.push_back(place.backend->allocate(place.device, 4 * (kWords + 1), false));
        storages.back()->write(0, bytes_of(expected.back()), {});
      }
      struct Call {
        std::array<std::size_t, 2> storage, first;
      };
      std::vector<Call> calls;
      std::vector<run::Step> steps;
      while (calls.size() < 12) {
        Call call;
        std::vector<StorageView> views;
        for (std::size_t slot = 0; slot < 2; ++slot) {
          call.storage[slot] = random() % storages.size();
          call.first[slot] = random() % kParts * kPart + shift / 4;
          views.push_back({storages[call.storage[slot]].get(), 4 * call.first[slot], 4 * kPart, kPart});
        }
        if (call.storage[0] == call.storage[1] && call.first[0] == call.first[1]) continue;
        calls.push_back(call);
        steps.push_back({executable->plan(views, {4, 1, 1}), views});
      }
      // One that does nothing has its place too.
      steps.push_back({executable->plan(steps[0].slots, {0, 1, 1}), steps[0].slots});
      const auto sequence = joined(*place.backend, steps);
      for (const std::uint64_t times : {0, 1, 2, 100}) {
        sequence.submit(times, {});
        for (std::uint64_t turn = 0; turn < times; ++turn) {
          for (const Call& call : calls) {
            for (std::size_t k = 0; k < kPart; ++k) {
              std::uint32_t& sum = expected[call.storage[1]][call.first[1] + k];
              sum = sum * 3 + expected[call.storage[0]][call.first[0] + k];
            }
          }
        }
        for (std::size_t k = 0; k < storages.size(); ++k) {
          Words got(kWords + 1);
          storages[k]->read(0, std::as_writable_bytes(std::span(got)), {});
          ASSERT_EQ(got, expected[k]) << "storage " << k << " after " << times << " times";
        }
      }
    }
  });
}

// Three counts in a storage of their own, after `before` bytes.
struct Counts {
  Counts(const Place& place, const std::array<std::uint32_t, 3>& counts, std::uint64_t before, StorageView::Role role)
      : storage(place.backend->allocate(place.device, before + run::kCountsBytes, true)),
        view{storage.get(), before, run::kCountsBytes, 3, role} {
    write(counts);
  }
  void write(const std::array<std::uint32_t, 3>& counts) const { storage->write(view.offset, std::as_bytes(std::span(counts)), {}); }
  std::unique_ptr<Storage> storage;
  StorageView view;
};

// Each invocation of a grid of at most 8 x 8 x 8 adds one to its own word.
validate::ValidProgram touch_program() {
  const ExprHandle at = (gid(2) * u32(8) + gid(1)) * u32(8) + gid(0);
  return valid(Sample()
                   .out("seen")
                   .size(2, 1, 4)
                   .add(if_(bin(BinOp::And, bin(BinOp::And, gid(0) < u32(8), gid(1) < u32(8)), gid(2) < u32(8)),
                            {store("seen", at, load("seen", at) + u32(1))}))
                   .make());
}

std::vector<StorageView> with(std::vector<StorageView> views, const StorageView& last) {
  views.push_back(last);
  return views;
}

TEST(DataGrid, runs_what_the_same_grid_by_value_runs) {
  const validate::ValidProgram program = touch_program();
  using Role = StorageView::Role;
  struct Given {
    Role role;
    std::array<std::uint32_t, 3> counts;
    Grid most, same;
  };
  const std::array<Given, 8> cases = {{{Role::Workgroups, {3, 5, 2}, {9, 9, 9}, {3, 5, 2}},
                                       {Role::Workgroups, {9, 9, 9}, {3, 8, 1}, {3, 8, 1}},
                                       {Role::Workgroups, {0xFFFFFFFF, 1, 1}, {4, 2, 2}, {4, 1, 1}},
                                       {Role::Workgroups, {3, 0, 2}, {9, 9, 9}, {0, 0, 0}},
                                       {Role::Invocations, {3, 5, 2}, {9, 9, 9}, {2, 5, 1}},
                                       {Role::Invocations, {8, 8, 8}, {9, 9, 9}, {4, 8, 2}},
                                       {Role::Invocations, {0xFFFFFFFF, 3, 5}, {2, 9, 9}, {2, 3, 2}},
                                       {Role::Invocations, {1, 1, 0}, {9, 9, 9}, {0, 0, 0}}}};
  at_every_place([&](const Place& place) {
    // Coarsened wherever it is possible, too.
    run::Optimize everywhere;
    everywhere.everywhere = true;
    for (const run::Optimize& optimize : {run::Optimize(), everywhere}) {
      const auto executable = prepared(*place.backend, program, place.device, optimize);
      for (const Given& given : cases) {
        for (const std::uint64_t before : {0, 4}) {
          Resident by_value(place, program, {Words(512)}, 0), from_data(place, program, {Words(512)}, 0);
          const Counts counts(place, given.counts, before, given.role);
          const std::vector<StorageView> views = with(from_data.views, counts.view);
          run::check_call(program, views, given.most);
          executable->plan(by_value.views, given.same)->submit(by_value.views, {}, {});
          executable->plan(views, given.most)->submit(views, {}, {});
          EXPECT_EQ(from_data.read(), by_value.read());
        }
      }
    }
  });
}

TEST(DataGrid, is_read_when_each_call_begins) {
  const validate::ValidProgram program = touch_program();
  const validate::ValidProgram count_up =
      valid(Sample().out("counts").add(store("counts", u32(0), bin(BinOp::Mod, load("counts", u32(0)) + u32(1), u32(5)))).make());
  at_every_place([&](const Place& place) {
    const auto executable = prepared(*place.backend, program, place.device), writer = prepared(*place.backend, count_up, place.device);
    Resident resident(place, program, {Words(512)}, 0);
    const Counts counts(place, {0, 1, 1}, 4, StorageView::Role::Workgroups);
    const std::vector<StorageView> views = with(resident.views, counts.view);
    const std::vector<StorageView> written = {{counts.storage.get(), 4, 12, 3}};
    const std::shared_ptr<run::Recording> work = executable->plan(views, {3, 1, 1}), write = writer->plan(written, {1, 1, 1});
    Words expected(512);
    std::uint32_t now = 0;
    const auto happens = [&] {
      now = (now + 1) % 5;
      for (std::uint32_t z = 0; z < 4; ++z) {
        for (std::uint32_t x = 0; x < 2 * std::min(now, 3u); ++x) ++expected[64 * z + x];
      }
    };
    for (int turn = 0; turn < 100; ++turn) {
      write->submit(written, {}, {});
      work->submit(views, {}, {});
      happens();
    }
    EXPECT_EQ(resident.read()[0], expected);
    const auto sequence = joined(*place.backend, {{write, written}, {work, views}, {write, written}, {work, views}});
    sequence.submit(30, {});
    for (int turn = 0; turn < 60; ++turn) happens();
    EXPECT_EQ(resident.read()[0], expected);
    counts.write({4, 1, 1});
    now = 4;
    sequence.submit(2, {});
    for (int turn = 0; turn < 4; ++turn) happens();
    EXPECT_EQ(resident.read()[0], expected);
  });
}

TEST(DataGrid, whose_array_a_failed_call_was_to_write_gives_its_error) {
  const validate::ValidProgram program = touch_program();
  at_every_place([&](const Place& place) {
    const auto executable = prepared(*place.backend, program, place.device);
    Resident resident(place, program, {Words(512)}, 0);
    const Counts counts(place, {1, 1, 1}, 0, StorageView::Role::Workgroups);
    const std::vector<StorageView> views = with(resident.views, counts.view);
    const auto plan = executable->plan(views, {3, 1, 1});
    counts.storage->fail(std::make_exception_ptr(DeviceError("it failed")));
    EXPECT_THROW(plan->submit(views, {}, {}), DeviceError);
    counts.write({1, 1, 1});
    plan->submit(views, {}, {});
    resident.read();
  });
}

TEST(Storage, that_a_failed_call_was_to_write_gives_its_error_until_it_is_written_anew) {
  // More rounds than a second has, on the host.
  const validate::ValidProgram program =
      valid(Sample()
                .out("c")
                .in("n")
                .size(1)
                .add(loop("i", u32(0), load("n", u32(0)), {loop("j", u32(0), load("n", u32(0)), {store("c", u32(0), var("j"))})}))
                .make());
  for (const Place& place : places()) {
    if (place.device) continue;
    SCOPED_TRACE(place.name);
    const auto executable = prepared(*place.backend, program, place.device);
    Resident resident(place, program, {Words(1, 5), Words(1, 0x7FFFFFFF)}, 0);
    const auto plan = executable->plan(resident.views, {1, 1, 1});
    run::RunOptions options;
    options.timeout = std::chrono::milliseconds(1);
    EXPECT_THROW(plan->submit(resident.views, {}, options), DispatchTimeoutError);
    EXPECT_THROW(resident.read(), DispatchTimeoutError);
    EXPECT_THROW(resident.storages[0]->wait({}), DispatchTimeoutError);
    EXPECT_THROW(plan->submit(resident.views, {}, options), DispatchTimeoutError);
    EXPECT_NO_THROW(resident.storages[1]->wait({})) << "it was only read";
    resident.storages[0]->write(0, bytes_of({6}), {});
    EXPECT_EQ(resident.read()[0], Words{6});
  }
}

TEST(Storage, is_refused_where_the_backend_has_no_such_device) {
  for (run::Backend* backend : {places()[0].backend, places()[1].backend}) {
    EXPECT_EQ(message_of<ArgumentError>([&] { backend->allocate(3, 16, true); }),
              "device 3 of backend `" + std::string(backend->name()) + "` does not exist. Fix: use 0, its only device.");
  }
}

TEST(Storage, of_more_than_the_host_has_is_a_typed_error) {
  for (run::Backend* backend : {places()[0].backend, places()[1].backend}) {
    EXPECT_EQ(message_of<DeviceMemoryError>([&] { backend->allocate(std::nullopt, std::uint64_t{1} << 60, true); }),
              "the host has no memory for an array of 1152921504606846976 bytes. Fix: use fewer elements.");
  }
}

TEST(Overlaps, of_storage_views_are_refused_when_one_is_written) {
  const validate::ValidProgram program = xor_program();
  at_every_place([&](const Place& place) {
    const auto storage = place.backend->allocate(place.device, 400, true);
    const auto other = place.backend->allocate(place.device, 400, true);
    const auto view = [](const std::unique_ptr<Storage>& of, std::uint64_t offset) { return StorageView{of.get(), offset, 40, 10}; };
    // Read arrays may overlap, and so may written ones of different storages.
    run::check_call(program, std::vector{view(storage, 0), view(storage, 4), view(other, 0)}, {});
    run::check_call(program, std::vector{view(storage, 0), view(storage, 4), view(storage, 44)}, {});
    for (const auto& views : {std::vector{view(storage, 0), view(other, 4), view(storage, 36)},
                              std::vector{view(other, 0), view(storage, 40), view(storage, 4)}}) {
      EXPECT_THROW(run::check_call(program, views, {}), BindingError);
    }
  });
}

TEST(Overlaps, are_found_among_many_arrays_as_among_few) {
  for (const std::size_t count : {std::size_t{3}, std::size_t{8}, std::size_t{9}, std::size_t{40}}) {
    Sample sample;
    for (std::size_t k = 0; k + 1 < count; ++k) sample.in("a" + std::to_string(k));
    const validate::ValidProgram program = valid(sample.out("out").make());
    const auto storage = places()[0].backend->allocate(std::nullopt, 4 * 40 * 40, true);
    const auto other = places()[0].backend->allocate(std::nullopt, 4 * 40 * 40, true);
    std::vector<StorageView> views;
    for (std::size_t k = 0; k < count; ++k) views.push_back({storage.get(), 160 * (count - 1 - k), 160, 40});
    run::check_call(program, views, {});
    for (std::size_t k = 0; k + 1 < count; ++k) {
      SCOPED_TRACE(std::to_string(count) + " buffers, number " + std::to_string(k));
      std::vector<StorageView> changed = views;
      changed[k].offset = 0;  // where the written one is
      EXPECT_EQ(message_of<BindingError>([&] { run::check_call(program, changed, {}); }),
                "arrays `a" + std::to_string(k) +
                    "` and `out` overlap in memory, and one of them is written. Fix: give each its own array, for instance a copy.");
      changed[k].bytes = changed[k].length = 0;
      run::check_call(program, changed, {});
      changed = views;
      changed[k].offset = views[(k + 1) % (count - 1)].offset;  // both are only read
      run::check_call(program, changed, {});
      changed[k] = views.back();
      changed[k].storage = other.get();
      run::check_call(program, changed, {});
    }
  }
}

// Works until it is told to end.
class Endless final : public run::Executable {
 public:
  void run(std::span<const run::BufferView>, Grid, const run::RunOptions&) override {
    at_work = true;
    at_work.notify_all();
    end.wait(false);
  }
  std::atomic<bool> at_work = false, end = false;
};

TEST(HostStorage, that_a_thread_was_writing_at_a_fork_is_a_typed_error_in_the_child_until_it_is_written) {
  const auto endless = std::make_shared<Endless>();
  run::HostStorage written(4), only_read(4);
  const std::vector<StorageView> views = {{&only_read, 0, 4, 1}, {&only_read, 0, 4, 1}, {&written, 0, 4, 1}};
  const auto program = std::make_shared<const validate::ValidProgram>(xor_program());
  const auto recording = run::record_call(*run::find_backend("cpu"), {program, endless, {}, {}}, views);
  std::jthread caller([&] { recording->submit(views, {}, {}); });
  endless->at_work.wait(false);
  const pid_t child = fork();
  if (child == 0) {
    alarm(10);  // one that waits for the parent's thread ends by a signal
    Words words = {7};
    only_read.write(0, bytes_of(words), {});
    std::string said;
    try {
      written.read(0, std::as_writable_bytes(std::span(words)), {});
    } catch (const DeviceError& error) {
      said = error.what();
    }
    if (said !=
        "another thread was writing the array when this process was forked, and it goes on in the parent alone. Fix: write the whole "
        "array anew, or fork while no call works with it.") {
      _exit(1);
    }
    written.write(0, bytes_of(Words{9}), {});
    written.read(0, std::as_writable_bytes(std::span(words)), {});
    _exit(words == Words{9} ? 0 : 2);
  }
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  endless->end = true;
  endless->end.notify_all();
}

}  // namespace
}  // namespace vyre::test
