// Calls that are recorded once and submitted with other arrays, on every backend and device here: the same words as on the host.
#include "vyre/run/recording.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
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
#include "vyre/run/checks/checks.hpp"
#include "vyre/run/profile.hpp"

namespace vyre::test {
namespace {

using namespace sample;
using run::CallsToRecord;
using run::CallToRecord;
using run::Grid;
using run::RecordedArray;
using run::Recording;
using run::RunOptions;
using run::Storage;
using run::StorageView;
using In = RecordedArray::In;

constexpr std::uint32_t kWords = 1000;
constexpr std::uint64_t kBytes = 4 * kWords;

// Where commands are recorded anew for other arrays: on devices that are told not to update bindings afterwards, and for calls by address.
const std::vector<Place>& places_that_record_anew() {
  static const std::vector<Place>& all = *[] {
    auto* list = new std::vector<Place>(host_places());
    const auto add = [&](const std::vector<Place>& more) { list->insert(list->end(), more.begin(), more.end()); };
    add(cuda_places("", {}));
#if VYRE_HAS_SPIRV
    add(vulkan_places(", bound before recording", {.update_after_bind = false}));
    add(vulkan_places(", by address, bound after recording", {.max_storage_range = 0, .update_after_bind = true}));
#endif
    return list;
  }();
  return all;
}

// How often commands are recorded at one of these places: on the host never.
std::uint64_t times_at(const Place& place, std::uint64_t vulkan, std::uint64_t cuda) {
  if (!place.device) return 0;
  return place.name.find(" by CUDA") == std::string::npos ? vulkan : cuda;
}

RecordedArray array(In in, std::uint32_t index, std::uint64_t bytes = kBytes, std::uint64_t offset = 0) {
  return {in, index, offset, bytes, static_cast<std::uint32_t>(bytes / 4)};
}

// Memory of a place with these words, `before` bytes into it.
struct Memory {
  Memory(const Place& place, const Words& words, std::uint64_t before = 0)
      : storage(place.backend->allocate(place.device, before + 4 * words.size(), true)),
        view{storage.get(), before, 4 * words.size(), static_cast<std::uint32_t>(words.size())} {
    storage->write(before, bytes_of(words), {});
  }
  Words read() const {
    Words words(view.length);
    storage->read(view.offset, std::as_writable_bytes(std::span(words)), {});
    return words;
  }
  std::shared_ptr<Storage> storage;
  StorageView view;
};

CallToRecord call(const Place& place, const ir::Program& program, std::vector<RecordedArray> arrays, Grid grid = {16, 1, 1}) {
  const auto checked = std::make_shared<const validate::ValidProgram>(valid(program));
  run::check_call(*checked, std::span<const RecordedArray>(arrays), grid);
  return {checked, place.backend->prepare(*checked, place.device), grid, std::move(arrays)};
}

// sum = the reversed `a` times a number, and to it twice the `a` again; by way of two kept arrays, which lie in one storage.
struct Pipeline {
  static ir::Program scaled() {
    return Sample().in("a").uniform("factor").out("b").size(64).add(store("b", gid(0), load("a", gid(0)) * load("factor", u32(0)))).make();
  }
  static ir::Program reversed() {
    return Sample().in("a").out("b").size(64).add(store("b", gid(0), load("a", len("a") - u32(1) - gid(0)))).make();
  }
  static ir::Program added() {
    return Sample().in("a").in("b").out("c").size(64).add(store("c", gid(0), load("a", gid(0)) + load("b", gid(0)))).make();
  }
  static CallsToRecord calls(const Place& place) {
    const RecordedArray first = array(In::Kept, 0), second = array(In::Kept, 0, kBytes, 4096);
    CallsToRecord calls;
    calls.slots = {{"a", kBytes}, {"sum", kBytes}};
    calls.kept = {place.backend->allocate(place.device, 8192, false)};
    calls.words_bytes = 260;
    calls.calls.push_back(call(place, scaled(), {array(In::Slot, 0), array(In::Words, 0, 4, 256), first}));
    calls.calls.push_back(call(place, reversed(), {first, second}));
    calls.calls.push_back(call(place, added(), {second, array(In::Slot, 0), first}));
    calls.calls.push_back(call(place, added(), {first, array(In::Slot, 0), array(In::Slot, 1)}));
    calls.order = {0, 1, 2, 3};
    return calls;
  }
  static Words words(std::uint32_t factor) {
    Words words(65, 0xDEADBEEF);
    words[64] = factor;
    return words;
  }
  static Words expected(const Words& a, std::uint32_t factor) {
    Words sum(a.size());
    for (std::size_t k = 0; k < a.size(); ++k) sum[k] = a[a.size() - 1 - k] * factor + 2 * a[k];
    return sum;
  }
};

void submit(Recording& recording, const Memory& a, const Memory& sum, std::uint32_t factor, const RunOptions& options = {}) {
  const std::array<StorageView, 2> slots = {a.view, sum.view};
  recording.submit(slots, bytes_of(Pipeline::words(factor)), options);
}

TEST(Recording, gives_what_its_calls_give_for_the_arrays_and_the_words_of_each_submission) {
  at_every_place([](const Place& place) {
    const std::shared_ptr<Recording> recording = place.backend->record(Pipeline::calls(place));
    // Where every device can bind an array, and where none with an alignment can.
    for (const std::uint64_t before : {0, 4, 0}) {
      for (std::uint32_t turn = 1; turn <= 12; ++turn) {
        const Memory a(place, counted(kWords, turn), before), sum(place, Words(kWords), before);
        for (const std::uint32_t factor : {turn, turn + 1, turn}) {
          submit(*recording, a, sum, factor);
          ASSERT_EQ(sum.read(), Pipeline::expected(counted(kWords, turn), factor)) << "turn " << turn << ", factor " << factor;
        }
      }
    }
  });
}

TEST(Recording, keeps_what_it_recorded_for_the_last_arrays_and_for_all_words) {
  for (const Place& place : places_that_record_anew()) {
    SCOPED_TRACE(place.name);
    const std::shared_ptr<Recording> recording = place.backend->record(Pipeline::calls(place));
    std::vector<Memory> a, sums;
    for (std::uint32_t k = 0; k < 4; ++k) {
      a.emplace_back(place, counted(kWords, k));
      sums.emplace_back(place, Words(kWords));
    }
    for (std::uint32_t turn = 0; turn < 40; ++turn) {
      const Memory& sum = sums[turn % 4];
      submit(*recording, a[turn % 4], sum, turn);
      ASSERT_EQ(sum.read(), Pipeline::expected(counted(kWords, turn % 4), turn)) << turn;
    }
    EXPECT_EQ(recording->times_recorded(), times_at(place, 4, 4));
  }
}

TEST(Recording, keeps_what_it_recorded_for_many_arrays_that_take_turns) {
  for (const Place& place : places_that_record_anew()) {
    SCOPED_TRACE(place.name);
    const std::shared_ptr<Recording> recording = place.backend->record(Pipeline::calls(place));
    constexpr std::uint32_t kSets = 20;
    std::vector<Memory> a, sums;
    for (std::uint32_t k = 0; k < kSets; ++k) {
      a.emplace_back(place, counted(kWords, k));
      sums.emplace_back(place, Words(kWords));
    }
    std::uint64_t recorded = 0;
    for (std::uint32_t turn = 0; turn < 3 * kSets; ++turn) {
      // Arrays are new in the first round, and known to come again in the second.
      if (turn == 2 * kSets) recorded = recording->times_recorded();
      submit(*recording, a[turn % kSets], sums[turn % kSets], turn);
      ASSERT_EQ(sums[turn % kSets].read(), Pipeline::expected(counted(kWords, turn % kSets), turn)) << turn;
    }
    EXPECT_EQ(recording->times_recorded(), recorded);
    // With Vulkan, each set is recorded in both rounds, but for the four of the first round that keep theirs. With CUDA, a set is recorded
    // when it comes again.
    EXPECT_EQ(recorded, times_at(place, 2 * kSets - 4, kSets));
  }
}

TEST(Recording, takes_what_arrays_have_left_that_do_not_come_again) {
  for (const Place& place : places_that_record_anew()) {
    SCOPED_TRACE(place.name);
    const std::shared_ptr<Recording> recording = place.backend->record(Pipeline::calls(place));
    const Memory often(place, counted(kWords, 1)), out(place, Words(kWords));
    constexpr std::uint32_t kTurns = 20;
    std::vector<Memory> once;  // kept, because memory that was freed is used again, and is known to the recording then
    for (std::uint32_t turn = 0; turn < kTurns; ++turn) {
      const Memory& a = once.emplace_back(place, counted(kWords, turn));
      const Memory sum(place, Words(kWords));
      submit(*recording, a, sum, turn);
      ASSERT_EQ(sum.read(), Pipeline::expected(counted(kWords, turn), turn)) << turn;
      submit(*recording, often, out, turn);
      ASSERT_EQ(out.read(), Pipeline::expected(counted(kWords, 1), turn)) << turn;
    }
    // The arrays that are used often are recorded for once, and the others once each, or never with CUDA.
    EXPECT_EQ(recording->times_recorded(), times_at(place, kTurns + 1, 1));
  }
}

TEST(Recording, is_submitted_many_times_before_the_device_is_done) {
  at_every_place([](const Place& place) {
    const std::shared_ptr<Recording> recording = place.backend->record(Pipeline::calls(place));
    std::vector<Memory> a, sums;
    for (std::uint32_t k = 0; k < 60; ++k) {
      if (a.size() < 11) a.emplace_back(place, counted(kWords, k));
      sums.emplace_back(place, Words(kWords));
    }
    for (std::uint32_t k = 0; k < 60; ++k) submit(*recording, a[k % 11], sums[k], k / 2);
    for (std::uint32_t k = 0; k < 60; ++k) ASSERT_EQ(sums[k].read(), Pipeline::expected(counted(kWords, k % 11), k / 2)) << k;
  });
}

TEST(Recording, runs_one_submission_after_the_other_when_threads_submit_at_once) {
  at_every_place([](const Place& place) {
    const std::shared_ptr<Recording> recording = place.backend->record(Pipeline::calls(place));
    std::vector<std::thread> threads;
    std::array<std::vector<Words>, 4> got;
    for (std::uint32_t thread = 0; thread < 4; ++thread) {
      threads.emplace_back([&, thread] {
        const Memory a(place, counted(kWords, thread));
        std::vector<Memory> sums;
        for (std::uint32_t turn = 0; turn < 20; ++turn) {
          submit(*recording, a, sums.emplace_back(place, Words(kWords)), 10 * thread + turn);
        }
        for (const Memory& sum : sums) got[thread].push_back(sum.read());
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (std::uint32_t thread = 0; thread < 4; ++thread) {
      for (std::uint32_t turn = 0; turn < 20; ++turn) {
        ASSERT_EQ(got[thread][turn], Pipeline::expected(counted(kWords, thread), 10 * thread + turn)) << thread << ", " << turn;
      }
    }
  });
}

TEST(Recording, is_a_step_of_others_which_outlive_it) {
  at_every_place([](const Place& place) {
    std::shared_ptr<Recording> recording = place.backend->record(Pipeline::calls(place));
    const Memory a(place, counted(kWords, 3)), b(place, Words(kWords)), c(place, Words(kWords));
    const auto step = [&](const std::vector<StorageView>& slots, const Words& words) {
      return run::Step{recording, slots, {bytes_of(words).begin(), bytes_of(words).end()}};
    };
    // Two steps of one recording share its kept arrays.
    const run::JoinedSteps sequence = run::join(
        *place.backend, place.device, std::vector{step({a.view, b.view}, Pipeline::words(5)), step({b.view, c.view}, Pipeline::words(6))});
    const Words between = Pipeline::expected(counted(kWords, 3), 5);
    submit(*recording, a, c, 9);
    recording.reset();
    sequence.submit(3, {});
    EXPECT_EQ(b.read(), between);
    EXPECT_EQ(c.read(), Pipeline::expected(between, 6));
  });
}

TEST(Recording, may_be_destroyed_with_its_arrays_while_the_device_works) {
  at_every_place([](const Place& place) {
    const Memory last(place, Words(kWords));
    for (std::uint32_t turn = 0; turn < 5; ++turn) {
      const Memory a(place, counted(kWords, turn));
      submit(*place.backend->record(Pipeline::calls(place)), a, last, turn);
    }
    EXPECT_EQ(last.read(), Pipeline::expected(counted(kWords, 4), 4));
  });
}

TEST(Recording, works_the_same_while_a_profile_is_open) {
  at_every_place([](const Place& place) {
    const std::shared_ptr<Recording> recording = place.backend->record(Pipeline::calls(place));
    const Memory a(place, counted(kWords, 3)), sum(place, Words(kWords));
    const auto profile = run::Profile::begin(1000);
    for (const std::uint32_t factor : {5, 5, 6}) {
      submit(*recording, a, sum, factor);
      EXPECT_EQ(sum.read(), Pipeline::expected(counted(kWords, 3), factor));
    }
    profile->end({});
    const auto report = profile->report();
    std::uint64_t dispatches = 0;
    for (const auto& row : report.rows) {
      if (row.name == "dispatch") dispatches += row.calls;
    }
    // A call that takes several submissions is seen as one dispatch a submission.
    EXPECT_EQ(dispatches, place.name.ends_with("of many submissions") ? 72u : 12u);
  });
}

TEST(Recording, refuses_slots_that_overlap_when_one_is_written) {
  at_every_place([](const Place& place) {
    CallsToRecord calls;
    calls.slots = {{"x", kBytes}, {"y", kBytes}, {"z", kBytes}};
    calls.calls.push_back(call(place, Pipeline::added(), {array(In::Slot, 0), array(In::Slot, 1), array(In::Slot, 2)}));
    calls.order = {0};
    const std::shared_ptr<Recording> recording = place.backend->record(std::move(calls));
    const Memory memory(place, Words(4 * kWords, 1));
    const auto part = [&](std::uint64_t word) { return StorageView{memory.view.storage, 4 * word, kBytes, kWords}; };
    const auto refused = [&](std::uint64_t x, std::uint64_t y, std::uint64_t z) -> std::string {
      const std::array<StorageView, 3> slots = {part(x), part(y), part(z)};
      return message_of<BindingError>([&] { run::check_slots(*recording, slots); });
    };
    const auto message = [](const std::string& first, const std::string& second) {
      return "arrays `" + first + "` and `" + second +
             "` overlap in memory, and one of them is written. Fix: give each its own array, for instance a copy.";
    };
    EXPECT_EQ(refused(0, 0, 1024), "no error");
    EXPECT_EQ(refused(0, 512, 2048), "no error");
    EXPECT_EQ(refused(1024, 2048, 24), "no error");
    EXPECT_EQ(refused(0, 2048, 0), message("x", "z"));
    EXPECT_EQ(refused(0, 2000, 1001), message("y", "z"));
    EXPECT_EQ(refused(1024, 2048, 25), message("x", "z"));
    EXPECT_EQ(refused(0, 100, 1050), message("y", "z"));
  });
}

TEST(Recording, reads_the_counts_of_a_grid_from_slots_and_from_kept_arrays) {
  // Each invocation adds one to its word.
  const ir::Program touch = Sample().out("seen").size(64).add(store("seen", gid(0), load("seen", gid(0)) + u32(1))).make();
  const ir::Program copy = Sample().in("a").out("b").size(1).add(store("b", gid(0), load("a", gid(0)))).make();
  at_every_place([&](const Place& place) {
    for (const auto role : {StorageView::Role::Workgroups, StorageView::Role::Invocations}) {
      CallsToRecord calls;
      calls.slots = {{"counts", 12}, {"seen", kBytes}};
      calls.kept = {place.backend->allocate(place.device, 12, false)};
      RecordedArray given = array(In::Slot, 0, 12), kept = array(In::Kept, 0, 12);
      calls.calls.push_back(call(place, copy, {given, kept}, {3, 1, 1}));
      given.role = kept.role = role;
      calls.calls.push_back(call(place, touch, {array(In::Slot, 1), given}, {4, 1, 1}));
      calls.calls.push_back(call(place, touch, {array(In::Slot, 1), kept}, {3, 1, 1}));
      calls.order = {0, 1, 2};
      const std::shared_ptr<Recording> recording = place.backend->record(std::move(calls));
      for (std::uint32_t turn = 0; turn < 14; ++turn) {
        const std::uint32_t groups = turn % 7;
        const Memory counts(place, {role == StorageView::Role::Workgroups ? groups : 64 * groups, 1, 1}), seen(place, Words(kWords));
        const std::array<StorageView, 2> slots = {counts.view, seen.view};
        recording->submit(slots, {}, {});
        Words expected(kWords);
        for (const std::uint32_t most : {4u, 3u}) {
          for (std::uint32_t k = 0; k < 64 * std::min(groups, most); ++k) ++expected[k];
        }
        ASSERT_EQ(seen.read(), expected) << turn;
      }
    }
  });
}

TEST(Recording, that_timed_out_runs_again_when_its_slots_are_written_anew) {
  // More rounds than a second has, on the host, for a large number.
  const ir::Program slow =
      Sample()
          .in("n")
          .out("c")
          .out("kept")
          .size(1)
          .add(loop("i", u32(0), load("n", u32(0)),
                    {loop("j", u32(0), load("n", u32(0)), {store("c", u32(0), var("j")), store("kept", u32(0), var("j"))})}))
          .make();
  for (const Place& place : places()) {
    if (place.device) continue;
    SCOPED_TRACE(place.name);
    CallsToRecord calls;
    calls.slots = {{"n", 4}, {"c", 4}};
    calls.kept = {place.backend->allocate(place.device, 4, false)};
    calls.calls.push_back(call(place, slow, {array(In::Slot, 0, 4), array(In::Slot, 1, 4), array(In::Kept, 0, 4)}, {1, 1, 1}));
    calls.order = {0};
    const std::shared_ptr<Recording> recording = place.backend->record(std::move(calls));
    const Memory n(place, {0x7FFFFFFF}), c(place, {5});
    const std::array<StorageView, 2> slots = {n.view, c.view};
    RunOptions options;
    options.timeout = std::chrono::milliseconds(1);
    EXPECT_THROW(recording->submit(slots, {}, options), DispatchTimeoutError);
    EXPECT_THROW(c.read(), DispatchTimeoutError);
    EXPECT_THROW(recording->submit(slots, {}, options), DispatchTimeoutError);
    n.storage->write(0, bytes_of({3}), {});
    c.storage->write(0, bytes_of({0}), {});
    recording->submit(slots, {}, {});
    EXPECT_EQ(c.read(), Words{2});
  }
}

TEST(Recording, ends_between_two_calls_when_it_is_interrupted) {
  for (const Place& place : places()) {
    if (place.device) continue;
    SCOPED_TRACE(place.name);
    const std::shared_ptr<Recording> recording = place.backend->record(Pipeline::calls(place));
    const Memory a(place, counted(kWords, 3)), sum(place, Words(kWords));
    RunOptions options;
    int asked = 0;
    options.interrupted = [&] { return ++asked == 3; };
    EXPECT_THROW(submit(*recording, a, sum, 5, options), Interrupted);
  }
}

}  // namespace
}  // namespace vyre::test
