// The CUDA backend on a driver without a GPU: the whole way of a call, what is kept, and each failure of each function.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <random>
#include <thread>

#include "support/conformance.hpp"
#include "support/directory.hpp"
#include "support/errors.hpp"
#include "support/fake_cuda.hpp"
#include "support/programs.hpp"
#include "support/run_program.hpp"
#include "support/small_procedure.hpp"
#include "support/words.hpp"
#include "vyre/base/error.hpp"
#include "vyre/ir/ops.hpp"
#include "vyre/run/checks.hpp"
#include "vyre/run/cuda/api/context.hpp"
#include "vyre/run/cuda/cuda_backend.hpp"
#include "vyre/run/cuda/device.hpp"
#include "vyre/run/cuda/storage.hpp"
#include "vyre/run/profile.hpp"
#include "vyre/run/recording.hpp"
#include "vyre/run/storage.hpp"

namespace vyre::test {
namespace {

using namespace sample;
using run::Executable;
using run::RunOptions;
using run::StorageView;
using run::cuda::CudaBackend;
using run::cuda::Options;

// out = a ^ b of a program with a guard, in workgroups of 64.
class CudaTest : public testing::Test {
 protected:
  explicit CudaTest(int devices = 1) : driver_(devices) { driver_.knows(xor_); }

  CudaBackend backend(Options options = {}) {
    if (!options.cache_directory) options.cache_directory = cache_.path;
    return CudaBackend([this] { return driver_.library(); }, std::move(options));
  }

  struct Arrays {
    Words a, b, out;
    explicit Arrays(std::uint32_t n) : a(counted(n, 3)), b(counted(n, 5)), out(n, 9) {}
    void run(Executable& executable, const RunOptions& options = {}) {
      const run::BufferView views[] = {view(a), view(b), view(out)};
      executable.run(views, {(static_cast<std::uint32_t>(a.size()) + 63) / 64, 1, 1}, options);
    }
    bool untouched() const { return out == Words(out.size(), 9); }
    bool right() const { return out == xor_of(a, b); }
  };
  // The same on the device, each array `before` bytes behind the beginning of its storage.
  struct Resident {
    std::vector<std::unique_ptr<run::Storage>> storages;
    std::vector<StorageView> views;
    Words a, b;
    Resident(CudaBackend& backend, std::uint32_t n, std::uint64_t before = 0, std::size_t device = 0) : a(counted(n, 3)), b(counted(n, 5)) {
      for (const Words* const words : std::initializer_list<const Words*>{&a, &b, nullptr}) {
        storages.push_back(backend.allocate(device, before + 4 * n, true));
        if (words != nullptr) storages.back()->write(before, bytes_of(*words), {});
        views.push_back({storages.back().get(), before, 4 * n, n});
      }
    }
    Words out() {
      Words got(a.size());
      storages[2]->read(views[2].offset, std::as_writable_bytes(std::span(got)), {});
      return got;
    }
    bool right() { return out() == xor_of(a, b); }
  };

  FakeCuda driver_;
  const Directory cache_;
  const validate::ValidProgram xor_ =
      valid(Sample()
                .in("a")
                .in("b")
                .out("out")
                .size(64)
                .add(if_(gid(0) < len("out"), {store("out", gid(0), load("a", gid(0)) ^ load("b", gid(0)))}))
                .make());
};

TEST_F(CudaTest, every_conformance_case_has_its_bytes) {
  CudaBackend cuda = backend();
  for (const ConformanceCase& each : conformance_cases()) {
    SCOPED_TRACE(each.name);
    const validate::ValidProgram program = valid(each.program);
    driver_.knows(program);
    EXPECT_EQ(run_program(cuda, program, each.given, each.grid), each.expected);
  }
  EXPECT_GT(conformance_cases().size(), 30u);
}

TEST_F(CudaTest, arrays_on_the_device_take_a_plan_for_any_of_their_size) {
  CudaBackend cuda = backend();
  const auto executable = cuda.prepare(xor_, 0);
  Resident first(cuda, 100), second(cuda, 100);
  const std::shared_ptr<run::Plan> plan = executable->plan(first.views, {2, 1, 1});
  plan->submit(first.views, {});
  plan->submit(second.views, {});
  EXPECT_TRUE(first.right());
  EXPECT_TRUE(second.right());
  driver_.forget_calls();
  plan->submit(first.views, {});
  EXPECT_EQ(driver_.calls("cuLaunchKernel"), 1);
  EXPECT_EQ(driver_.calls("cuEventRecord"), 0) << "no wait follows the call";
  EXPECT_EQ(driver_.calls("cuMemAllocFromPoolAsync"), 0);
}

TEST_F(CudaTest, a_call_of_arrays_is_one_launch_and_a_wait_for_it_asks_about_the_stream_alone) {
  CudaBackend cuda = backend({.submission_thread = false});
  const auto executable = cuda.prepare(xor_, 0);
  Resident arrays(cuda, 100);
  const std::shared_ptr<run::Plan> plan = executable->plan(arrays.views, {2, 1, 1});
  plan->submit(arrays.views, {});
  EXPECT_TRUE(arrays.right());
  driver_.forget_calls();
  plan->submit(arrays.views, {});
  // Another library may have changed the context of the thread, so the backend asks for it.
  EXPECT_EQ(driver_.order(FakeCuda::functions()), (std::vector<std::string>{"cuCtxGetCurrent", "cuLaunchKernel"}));
  driver_.forget_calls();
  arrays.storages[2]->wait({});
  EXPECT_EQ(driver_.order(FakeCuda::functions()), (std::vector<std::string>{"cuCtxGetCurrent", "cuStreamQuery"}));
  driver_.forget_calls();
  arrays.storages[0]->wait({});
  EXPECT_EQ(driver_.order(FakeCuda::functions()), std::vector<std::string>()) << "the device is known to be idle";
}

TEST_F(CudaTest, a_graph_is_one_call_and_a_wait_for_it_asks_about_the_stream_alone) {
  CudaBackend cuda = backend({.submission_thread = false});
  const auto executable = cuda.prepare(xor_, 0);
  Resident arrays(cuda, 100);
  const std::shared_ptr<run::Plan> plan = executable->plan(arrays.views, {2, 1, 1});
  const auto sequence = cuda.sequence({{plan, arrays.views}, {plan, arrays.views}});
  sequence->submit(1, {});
  EXPECT_TRUE(arrays.right());
  driver_.forget_calls();
  sequence->submit(1, {});
  arrays.storages[2]->wait({});
  EXPECT_EQ(driver_.order(FakeCuda::functions()),
            (std::vector<std::string>{"cuCtxGetCurrent", "cuGraphLaunch", "cuCtxGetCurrent", "cuStreamQuery"}));
}

// The submitting thread marks where the wait ends, before it gives the driver more work.
TEST_F(CudaTest, a_waiting_thread_does_not_wait_for_what_another_submits_later) {
  for (const bool beside : {false, true}) {
    SCOPED_TRACE(beside ? "by the submission thread" : "by the caller");
    CudaBackend cuda = backend({.submission_thread = beside});
    const auto executable = cuda.prepare(xor_, 0);
    Resident first(cuda, 100), second(cuda, 100);
    const std::shared_ptr<run::Plan> plan = executable->plan(first.views, {2, 1, 1});
    plan->submit(first.views, {});
    EXPECT_TRUE(first.right());
    EXPECT_TRUE(second.out() == Words(100, 0));
    driver_.hold();
    plan->submit(first.views, {});
    driver_.forget_calls();
    std::jthread waiting([&] { first.storages[2]->wait({}); });
    while (driver_.calls("cuStreamQuery") == 0) std::this_thread::yield();
    plan->submit(second.views, {});
    while (driver_.calls("cuLaunchKernel") < (beside ? 2 : 1)) std::this_thread::yield();
    const std::vector<std::string> order = driver_.order({"cuEventRecord", "cuLaunchKernel"});
    EXPECT_EQ(std::vector<std::string>(order.end() - 2, order.end()), (std::vector<std::string>{"cuEventRecord", "cuLaunchKernel"}));
    if (HasFailure()) driver_.release();
    driver_.let_pass(2);  // the first call, and the mark
    waiting.join();
    EXPECT_TRUE(std::ranges::none_of(second.storages, [&](const auto& each) {
      RunOptions soon;
      soon.timeout = std::chrono::nanoseconds(1);
      return message_of([&] { each->wait(soon); }) == "no error";
    })) << "the second call is not done";
    driver_.release();
    EXPECT_TRUE(second.right());
  }
}

TEST_F(CudaTest, several_threads_wait_for_calls_of_their_own_while_others_submit) {
  CudaBackend cuda = backend();
  const auto executable = cuda.prepare(xor_, 0);
  std::vector<std::jthread> threads;
  std::atomic<int> wrong = 0;
  for (std::uint32_t thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&] {
      Resident arrays(cuda, 100);
      const std::shared_ptr<run::Plan> plan = executable->plan(arrays.views, {2, 1, 1});
      for (int turn = 0; turn < 200; ++turn) {
        for (int call = 0; call <= turn % 7; ++call) plan->submit(arrays.views, {});
        arrays.storages[2]->wait({});
      }
      wrong += arrays.right() ? 0 : 1;
    });
  }
  threads.clear();
  EXPECT_EQ(wrong, 0);
}

TEST_F(CudaTest, a_sequence_is_one_graph_and_runs_as_often_as_asked) {
  CudaBackend cuda = backend();
  Resident arrays(cuda, 100);
  const auto executable = cuda.prepare(xor_, 0);
  const std::shared_ptr<run::Plan> plan = executable->plan(arrays.views, {2, 1, 1});
  driver_.forget_calls();
  const auto sequence = cuda.sequence({{plan, arrays.views}, {plan, arrays.views}});
  sequence->submit(700, {});
  EXPECT_TRUE(arrays.right());
  EXPECT_EQ(driver_.calls("cuLaunchKernel"), 2) << "when it was made";
  EXPECT_EQ(driver_.calls("cuGraphLaunch"), 700);
  // A single launch takes no graph, and neither does what a profile shows call by call.
  cuda.sequence({{plan, arrays.views}})->submit(3, {});
  EXPECT_EQ(driver_.calls("cuLaunchKernel"), 5);
  const auto profile = run::Profile::begin(100);
  sequence->submit(1, {});
  profile->end({});
  EXPECT_EQ(driver_.calls("cuLaunchKernel"), 7);
  EXPECT_EQ(driver_.calls("cuGraphLaunch"), 700);
}

// out = a ^ factor, and then what that gives ^ a, by way of a kept array.
class CudaRecordingTest : public CudaTest {
 protected:
  using In = run::RecordedArray::In;
  static constexpr std::uint32_t kWords = 100;
  static constexpr std::uint64_t kBytes = 4 * kWords;

  CudaRecordingTest() { driver_.knows(scaled_); }

  static run::RecordedArray array(In in, std::uint32_t index, std::uint64_t bytes = kBytes) {
    return {in, index, 0, bytes, static_cast<std::uint32_t>(bytes / 4)};
  }
  run::CallToRecord call(const validate::ValidProgram& program, std::vector<run::RecordedArray> arrays) {
    return {std::make_shared<const validate::ValidProgram>(program), cuda_.prepare(program, 0), {2, 1, 1}, std::move(arrays)};
  }
  std::shared_ptr<run::Recording> recorded() {
    run::CallsToRecord calls;
    calls.slots = {{"a", kBytes}, {"out", kBytes}};
    calls.kept = {cuda_.allocate(0, kBytes, false)};
    calls.words_bytes = 4;
    calls.calls.push_back(call(scaled_, {array(In::Slot, 0), array(In::Words, 0, 4), array(In::Kept, 0)}));
    calls.calls.push_back(call(xor_, {array(In::Kept, 0), array(In::Slot, 0), array(In::Slot, 1)}));
    calls.order = {0, 1};
    return cuda_.record(std::move(calls));
  }
  static Words expected(const Words& a, std::uint32_t factor) {
    Words result(a);
    for (std::uint32_t& word : result) word = (word * factor) ^ word;
    return result;
  }

  CudaBackend cuda_ = backend();
  const validate::ValidProgram scaled_ =
      valid(Sample()
                .in("a")
                .uniform("factor")
                .out("b")
                .size(64)
                .add(if_(gid(0) < len("b"), {store("b", gid(0), load("a", gid(0)) * load("factor", u32(0)))}))
                .make());
};

TEST_F(CudaRecordingTest, works_with_other_arrays_and_words_each_time_and_keeps_graphs_of_arrays_that_come_again) {
  const auto recording = recorded();
  std::vector<Resident> arrays;
  for (int k = 0; k < 3; ++k) arrays.emplace_back(cuda_, kWords);
  driver_.forget_calls();
  for (std::uint32_t turn = 1; turn <= 12; ++turn) {
    Resident& now = arrays[turn % 3];
    const std::array<StorageView, 2> slots = {now.views[0], now.views[2]};
    recording->submit(slots, std::as_bytes(std::span(&turn, 1)), {});
    EXPECT_EQ(now.out(), expected(now.a, turn)) << turn;
  }
  EXPECT_EQ(driver_.calls("cuGraphLaunch"), 9) << "each set of arrays was new once";
  EXPECT_EQ(recording->times_recorded(), 3u);
  Resident inside(cuda_, kWords, 4);
  const std::array<StorageView, 2> slots = {inside.views[0], inside.views[2]};
  const std::uint32_t factor = 5;
  for (int turn = 0; turn < 3; ++turn) recording->submit(slots, std::as_bytes(std::span(&factor, 1)), {});
  EXPECT_EQ(inside.out(), expected(inside.a, factor));
}

TEST_F(CudaRecordingTest, keeps_graphs_of_many_arrays_that_take_turns) {
  const auto recording = recorded();
  constexpr std::uint32_t kSets = 40;
  std::vector<Resident> arrays;
  for (std::uint32_t k = 0; k < kSets; ++k) arrays.emplace_back(cuda_, kWords);
  for (std::uint32_t turn = 0; turn < 4 * kSets; ++turn) {
    Resident& now = arrays[turn % kSets];
    const std::array<StorageView, 2> slots = {now.views[0], now.views[2]};
    recording->submit(slots, std::as_bytes(std::span(&turn, 1)), {});
    ASSERT_EQ(now.out(), expected(now.a, turn)) << turn;
  }
  EXPECT_EQ(recording->times_recorded(), kSets);
}

TEST_F(CudaRecordingTest, is_a_step_of_a_sequence_with_words_of_its_own) {
  const auto recording = recorded();
  Resident first(cuda_, kWords), second(cuda_, kWords);
  const std::uint32_t factors[] = {3, 4};
  std::vector<run::Step> steps;
  for (int k = 0; k < 2; ++k) {
    const Resident& arrays = k == 0 ? first : second;
    const std::array<StorageView, 2> slots = {arrays.views[0], arrays.views[2]};
    steps.push_back(recording->step(slots, std::as_bytes(std::span(&factors[k], 1))));
  }
  const auto sequence = cuda_.sequence(std::move(steps));
  driver_.forget_calls();
  sequence->submit(5, {});
  EXPECT_EQ(first.out(), expected(first.a, 3));
  EXPECT_EQ(driver_.calls("cuGraphLaunch"), 5);
  EXPECT_EQ(second.out(), expected(second.a, 4));
}

TEST_F(CudaRecordingTest, leaves_nothing_behind_when_it_is_destroyed_while_the_device_works_on_its_graphs) {
  {
    auto recording = recorded();
    Resident arrays(cuda_, kWords);
    const std::array<StorageView, 2> slots = {arrays.views[0], arrays.views[2]};
    const std::uint32_t factor = 3;
    driver_.hold();
    for (int turn = 0; turn < 3; ++turn) recording->submit(slots, std::as_bytes(std::span(&factor, 1)), {});
    recording.reset();
    driver_.release();
    EXPECT_EQ(arrays.out(), expected(arrays.a, factor));
  }
  EXPECT_EQ(driver_.calls("cuGraphLaunch"), 2);
  cuda_ = backend();
  EXPECT_EQ(driver_.leaks(), std::vector<std::string>());
}

TEST_F(CudaTest, a_grid_larger_than_a_launch_takes_several) {
  CudaBackend cuda = backend({.max_group_count = std::array<std::uint32_t, 3>{3, 1, 1}});
  Resident arrays(cuda, 6400);
  const auto executable = cuda.prepare(xor_, 0);
  driver_.forget_calls();
  executable->plan(arrays.views, {100, 1, 1})->submit(arrays.views, {});
  EXPECT_TRUE(arrays.right());
  EXPECT_EQ(driver_.calls("cuLaunchKernel"), 34);
}

using Before = std::vector<std::vector<std::size_t>>;

TEST_F(CudaTest, calls_of_a_graph_that_share_nothing_run_at_once_and_others_in_their_order) {
  CudaBackend cuda = backend();
  std::vector<Resident> arrays;
  for (int k = 0; k < 6; ++k) arrays.emplace_back(cuda, 100);
  const std::shared_ptr<run::Plan> plan = cuda.prepare(xor_, 0)->plan(arrays[0].views, {2, 1, 1});
  const auto graph_of = [&](const std::vector<std::vector<StorageView>>& calls) {
    std::vector<run::Step> steps;
    for (const auto& views : calls) steps.push_back({plan, views});
    cuda.sequence(std::move(steps))->submit(1, {});
    return driver_.last_graph();
  };
  const auto own = [&](std::size_t k) { return arrays[k].views; };
  const auto array = [&](std::size_t k) { return arrays[k].views[2]; };
  EXPECT_EQ(graph_of({own(0), own(1), own(2), own(3), own(4), own(5)}), (Before{{}, {}, {}, {}, {0}, {1}})) << "at most four";
  // The first two may share what they read, and the third reads what they wrote.
  const StorageView a = arrays[0].views[0], b = arrays[0].views[1];
  EXPECT_EQ(graph_of({{a, b, array(0)}, {a, b, array(1)}, {array(0), array(1), array(2)}}), (Before{{}, {}, {0, 1}}));
  EXPECT_EQ(arrays[2].out(), Words(100, 0));
  // What was waited for is not waited for again.
  EXPECT_EQ(graph_of({{a, b, array(0)}, {a, b, array(1)}, {array(0), array(1), array(2)}, {array(2), array(1), array(3)}}),
            (Before{{}, {}, {0, 1}, {2}}));
  // A chain, by reading what was written, writing what was read, and writing what was written.
  EXPECT_EQ(graph_of({{a, b, array(0)}, {array(0), b, array(1)}, {a, b, array(0)}, {b, b, array(0)}}), (Before{{}, {0}, {1}, {2}}));
  driver_.forget_calls();
  graph_of({own(0), own(0), own(0)});
  EXPECT_EQ(driver_.calls("cuStreamWaitEvent"), 0) << "a chain takes no events";
  EXPECT_EQ(driver_.calls("cuStreamCreate"), 1);
}

// Sequences of additions among parts of three arrays, drawn at random, beside the same additions on the host.
TEST_F(CudaTest, graphs_of_calls_in_parallel_give_what_the_calls_give_one_after_the_other) {
  const validate::ValidProgram program =
      valid(Sample().in("a").out("sum").size(64).add(store("sum", gid(0), load("sum", gid(0)) * u32(3) + load("a", gid(0)))).make());
  driver_.knows(program);
  CudaBackend cuda = backend();
  constexpr std::uint32_t kWords = 256, kPart = 64;
  std::size_t wide = 0;
  for (const std::uint32_t seed : {1u, 2u, 3u, 4u, 5u, 6u}) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    const auto drawn = [&](std::uint32_t below) { return static_cast<std::uint32_t>(random() % below); };
    std::vector<std::unique_ptr<run::Storage>> storages;
    std::vector<Words> expected;
    for (std::uint32_t k = 0; k < 3; ++k) {
      expected.push_back(counted(kWords, 3 + k));
      storages.push_back(cuda.allocate(0, 4 * kWords, false));
      storages.back()->write(0, bytes_of(expected.back()), {});
    }
    const auto executable = cuda.prepare(program, 0);
    std::vector<run::Step> steps;
    std::vector<std::array<std::uint32_t, 4>> calls;
    while (steps.size() < 150) {
      const std::array<std::uint32_t, 4> call = {drawn(3), drawn(4) * kPart, drawn(3), drawn(4) * kPart};
      const std::vector<StorageView> views = {{storages[call[0]].get(), 4 * call[1], 4 * kPart, kPart},
                                              {storages[call[2]].get(), 4 * call[3], 4 * kPart, kPart}};
      if (call[0] == call[2] && call[1] == call[3]) continue;
      calls.push_back(call);
      steps.push_back({executable->plan(views, {1, 1, 1}), views});
    }
    const auto sequence = cuda.sequence(std::move(steps));
    const Before graph = driver_.last_graph();
    for (std::size_t node = 1; node < graph.size(); ++node) wide += graph[node] != std::vector<std::size_t>{node - 1};
    for (int times = 0; times < 3; ++times) {
      sequence->submit(1, {});
      for (const auto& [from, at, to, there] : calls) {
        for (std::uint32_t k = 0; k < kPart; ++k) expected[to][there + k] = expected[to][there + k] * 3 + expected[from][at + k];
      }
    }
    for (std::size_t k = 0; k < storages.size(); ++k) {
      Words got(kWords);
      storages[k]->read(0, std::as_writable_bytes(std::span(got)), {});
      EXPECT_EQ(got, expected[k]) << k;
    }
  }
  EXPECT_GT(wide, 200u) << "many calls need not wait for the one before";
}

TEST_F(CudaTest, a_driver_tells_of_registers_and_how_busy_they_keep_a_multiprocessor) {
  CudaBackend cuda = backend();
  std::vector<std::array<std::string, 2>> told;
  for (const run::DriverFact& fact : cuda.prepare(xor_, 0)->driver_facts({})) told.push_back({fact.name, fact.value});
  // The driver gives ten times the number of an attribute. 2^16 registers are enough for 25 workgroups of 64 with 40 each.
  const std::vector<std::array<std::string, 2>> expected = {
      {"Register Count", "40"},    {"Resident Workgroups", "25"},       {"Occupancy", "1600 of 2048"},
      {"Local Memory Size", "30"}, {"Static Shared Memory Size", "10"}, {"Constant Memory Size", "20"},
      {"Binary Version", "60"}};
  EXPECT_EQ(told, expected);
}

TEST_F(CudaTest, few_resident_workgroups_become_one_more_where_registers_stay_registers) {
  // 2^16 registers are enough for 2 workgroups of 64 with 400 each, and for 3 with 340.
  struct Case {
    FakeCuda::Compiled plain, limited;
    int compiled;
    bool is_limited;
  };
  const Case cases[] = {
      {{400, 8}, {340, 8}, 2, true}, {{400, 8}, {340, 9}, 2, false}, {{400, 8}, {350, 8}, 2, false}, {{340, 8}, {256, 8}, 1, false}};
  for (const Case& each : cases) {
    SCOPED_TRACE(testing::Message() << each.plain.registers << ", " << each.limited.registers << ", " << each.limited.local_bytes);
    const Directory cache;
    for (const int times : {each.compiled, 0}) {  // the next process takes what this one kept
      driver_.set_compiled(each.plain, 3, each.limited);
      driver_.forget_calls();
      CudaBackend cuda = backend({.cache_directory = cache.path});
      const auto executable = cuda.prepare(xor_, 0);
      Arrays arrays(100);
      arrays.run(*executable);
      EXPECT_TRUE(arrays.right());
      EXPECT_EQ(driver_.calls("cuLinkComplete"), times);
      EXPECT_EQ(executable->driver_facts({})[0].value, std::to_string((each.is_limited ? each.limited : each.plain).registers));
    }
  }
}

TEST_F(CudaTest, a_kernel_is_compiled_once_where_more_than_registers_bounds_what_is_resident) {
  // A multiprocessor has 233,472 bytes of workgroup memory: for 3 workgroups of 77,824 bytes, and for 2 of 4 bytes more.
  const auto program = [&](std::uint32_t words) {
    return valid(Sample()
                     .in("a")
                     .out("out")
                     .size(64)
                     .shared("s", words)
                     .add(store("s", lid(0), load("a", gid(0))))
                     .add(store("out", gid(0), load("s", lid(0))))
                     .make());
  };
  struct Case {
    std::uint32_t words;
    int invocations, compiled;
  };
  for (const Case& each : {Case{19456, 192, 2}, Case{19457, 192, 1}, Case{19456, 191, 1}}) {
    SCOPED_TRACE(testing::Message() << each.words << ", " << each.invocations);
    driver_.set_attribute(run::cuda::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, each.invocations);
    driver_.set_compiled({400, 8}, 3, {340, 8});
    driver_.forget_calls();
    const Directory cache;
    CudaBackend cuda = backend({.cache_directory = cache.path});
    cuda.prepare(program(each.words), 0);
    EXPECT_EQ(driver_.calls("cuLinkComplete"), each.compiled);
  }
}

TEST_F(CudaTest, large_grids_run_coarsened) {
  CudaBackend cuda = backend();
  constexpr std::uint32_t kWords = (std::uint32_t{1} << 20) + 5;
  Resident arrays(cuda, kWords);
  const auto executable = cuda.prepare(xor_, 0);
  driver_.forget_calls();
  executable->plan(arrays.views, {(kWords + 63) / 64, 1, 1})->submit(arrays.views, {});
  EXPECT_TRUE(arrays.right());
  EXPECT_EQ(driver_.calls("cuLaunchKernel"), 2) << "the coarsened part, and what is left";
}

TEST_F(CudaTest, a_grid_from_data_counts_workgroups_or_invocations) {
  CudaBackend cuda = backend();
  const auto executable = cuda.prepare(xor_, 0);
  const auto done = [&](StorageView::Role role, std::uint32_t count) {
    Resident arrays(cuda, 640);
    // No invocation writes a one: the xor of `a` and `b` is even.
    arrays.storages[2]->write(0, bytes_of(Words(640, 1)), {});
    const auto counts = cuda.allocate(0, 16, true);
    const std::array<std::uint32_t, 3> words = {count, 1, 1};
    counts->write(4, std::as_bytes(std::span(words)), {});
    std::vector<StorageView> views = arrays.views;
    views.push_back({counts.get(), 4, 12, 3, role});
    executable->plan(views, {9, 1, 1})->submit(views, {});
    const Words got = arrays.out(), all = xor_of(arrays.a, arrays.b);
    const auto wrong = std::mismatch(got.begin(), got.end(), all.begin()).first;
    EXPECT_EQ(Words(wrong, got.end()), Words(static_cast<std::size_t>(got.end() - wrong), 1));
    return wrong - got.begin();
  };
  EXPECT_EQ(done(StorageView::Role::Workgroups, 2), 128);
  EXPECT_EQ(done(StorageView::Role::Workgroups, 99), 576) << "at most nine";
  EXPECT_EQ(done(StorageView::Role::Workgroups, 0), 0);
  EXPECT_EQ(done(StorageView::Role::Invocations, 128), 128);
  EXPECT_EQ(done(StorageView::Role::Invocations, 129), 192) << "whole workgroups";
  EXPECT_EQ(done(StorageView::Role::Invocations, 0xFFFFFFFF), 576);
}

TEST_F(CudaTest, a_sequence_with_grids_from_data_is_one_graph) {
  CudaBackend cuda = backend();
  const auto executable = cuda.prepare(xor_, 0);
  Resident first(cuda, 640), second(cuda, 640);
  const auto counts = cuda.allocate(0, 12, true);
  std::vector<run::Step> steps;
  for (const Resident* const arrays : {&first, &second}) {
    std::vector<StorageView> views = arrays->views;
    views.push_back({counts.get(), 0, 12, 3, StorageView::Role::Invocations});
    steps.push_back({executable->plan(views, {10, 1, 1}), views});
  }
  const auto sequence = cuda.sequence(std::move(steps));
  // The counts are read when the graph runs.
  const std::array<std::uint32_t, 3> words = {640, 1, 1};
  counts->write(0, std::as_bytes(std::span(words)), {});
  sequence->submit(1, {});
  EXPECT_TRUE(first.right());
  EXPECT_TRUE(second.right());
  EXPECT_EQ(driver_.calls("cuGraphLaunch"), 1);
}

TEST_F(CudaTest, arrays_that_begin_inside_of_an_element_are_copied) {
  const validate::ValidProgram program =
      valid(Sample().in("a", DataType::Vec4U32).out("out", DataType::Vec4U32).add(store("out", gid(0), load("a", gid(0)))).make());
  driver_.knows(program);
  CudaBackend cuda = backend();
  const Words given = counted(16, 11);
  const auto from = cuda.allocate(0, 68, true), to = cuda.allocate(0, 72, true);
  from->write(4, bytes_of(given), {});
  const std::vector<StorageView> views = {{from.get(), 4, 64, 4}, {to.get(), 8, 64, 4}};
  cuda.prepare(program, 0)->plan(views, {4, 1, 1})->submit(views, {});
  Words got(18);
  to->read(0, std::as_writable_bytes(std::span(got)), {});
  EXPECT_EQ(Words(got.begin() + 2, got.end()), given);
  EXPECT_EQ(Words(got.begin(), got.begin() + 2), Words(2, 0)) << "before the array";
}

TEST_F(CudaTest, arrays_of_any_size_come_and_go) {
  CudaBackend cuda = backend();
  // Nothing, less than the driver copies itself, more, whole chunks, and more than all lanes hold.
  for (const std::uint32_t words : {0u, 1u, 16384u, 16385u, 1u << 20, (1u << 20) + 1, 30u << 20}) {
    const auto storage = cuda.allocate(0, std::uint64_t{4} * words, false);
    const Words given = counted(words, 2654435761u);
    Words got(words);
    storage->write(0, bytes_of(given), {});
    storage->read(0, std::as_writable_bytes(std::span(got)), {});
    EXPECT_EQ(got, given) << words;
  }
}

TEST_F(CudaTest, bytes_that_fill_no_whole_word_are_followed_by_zeros) {
  CudaBackend cuda = backend();
  for (const bool zeroed : {false, true}) {
    const auto storage = cuda.allocate(0, 6, zeroed);
    const std::array<std::byte, 6> given = {std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}, std::byte{5}, std::byte{6}};
    storage->write(0, given, {});
    const auto& memory = static_cast<run::cuda::CudaStorage&>(*storage);
    std::uint32_t last = 0;
    std::memcpy(&last, reinterpret_cast<const void*>(memory.address() + 4), 4);
    EXPECT_EQ(last, 0x0605u);
  }
}

TEST_F(CudaTest, compiled_code_is_kept_for_the_next_process) {
  Arrays arrays(100);
  {
    CudaBackend cuda = backend();
    arrays.run(*cuda.prepare(xor_, 0));
    EXPECT_EQ(driver_.calls("cuLinkComplete"), 1);
  }
  CudaBackend next = backend();
  Arrays again(100);
  again.run(*next.prepare(xor_, 0));
  EXPECT_EQ(driver_.calls("cuLinkComplete"), 1);
  EXPECT_TRUE(again.right());
  // A file that the driver does not load is made anew.
  driver_.fail("cuModuleLoadData", 1, run::cuda::CUDA_ERROR_INVALID_IMAGE);
  CudaBackend third = backend();
  Arrays repaired(100);
  repaired.run(*third.prepare(xor_, 0));
  EXPECT_TRUE(driver_.failed());
  EXPECT_EQ(driver_.calls("cuLinkComplete"), 2);
  EXPECT_TRUE(repaired.right());
}

TEST_F(CudaTest, compiled_code_is_for_one_driver_alone) {
  const auto compiled_with = [&](int version, const std::string& file) {
    driver_.set_version(version);
    driver_.forget_calls();
    Options options;
    options.cache_directory = cache_.path;
    CudaBackend cuda(
        [&] {
          run::cuda::Library library = driver_.library();
          library.file = file;
          return library;
        },
        options);
    Arrays arrays(100);
    arrays.run(*cuda.prepare(xor_, 0));
    EXPECT_TRUE(arrays.right());
    return driver_.calls("cuLinkComplete");
  };
  EXPECT_EQ(compiled_with(13000, "one"), 1);
  EXPECT_EQ(compiled_with(13000, "one"), 0);
  EXPECT_EQ(compiled_with(13010, "one"), 1) << "another version";
  EXPECT_EQ(compiled_with(13000, "two"), 1) << "another file of the library, of the same version";
  EXPECT_EQ(compiled_with(13000, "one"), 0);
}

TEST(CudaResults, that_end_all_work_of_the_process_lose_the_device) {
  // By the driver's documentation: what was not corrected, what leaves the process in an inconsistent state, and a lost server of MPS.
  for (const CUresult lost : {4, 214, 220, 226, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719, 721, 806, 810, 911}) {
    EXPECT_TRUE(run::cuda::is_lost(lost)) << lost;
  }
  // Among them are a server of MPS that takes no more clients, or is not there.
  for (const CUresult other : {1, 2, 3, 100, 200, 201, 209, 218, 221, 222, 600, 701, 720, 805, 807, 808, 809, 900, 999}) {
    EXPECT_FALSE(run::cuda::is_lost(other)) << other;
  }
}

TEST_F(CudaTest, a_call_that_times_out_leaves_its_arrays_and_refuses_the_next_until_it_is_done) {
  CudaBackend cuda = backend();
  const auto executable = cuda.prepare(xor_, 0);
  Arrays arrays(100);
  RunOptions options;
  options.timeout = std::chrono::milliseconds(20);
  driver_.hold();
  EXPECT_THROW(arrays.run(*executable, options), DispatchTimeoutError);
  EXPECT_TRUE(arrays.untouched());
  EXPECT_EQ(
      message_of([&] { arrays.run(*executable); }),
      "device `Fake 0` is still busy with a call that timed out or was interrupted. Fix: call again when that program has ended, or use "
      "another device.");
  EXPECT_FALSE(cuda.wait_until_idle(0, 0.01));
  driver_.release();
  EXPECT_TRUE(cuda.wait_until_idle(0, 10));
  arrays.run(*executable);
  EXPECT_TRUE(arrays.right());
}

TEST_F(CudaTest, a_procedure_that_times_out_refuses_the_next_call_until_it_is_done) {
  CudaBackend cuda = backend();
  const std::vector<std::byte> right = increment(cuda, 0);
  RunOptions options;
  options.timeout = std::chrono::milliseconds(20);
  driver_.hold();
  EXPECT_THROW(increment(cuda, 0, options), DispatchTimeoutError);
  const std::string busy =
      "device `Fake 0` is still busy with a call that timed out or was interrupted. Fix: call again when that program has ended, or use "
      "another device.";
  EXPECT_EQ(message_of([&] { increment(cuda, 0); }), busy);
  const auto executable = cuda.prepare(xor_, 0);
  Arrays arrays(100);
  EXPECT_EQ(message_of([&] { arrays.run(*executable); }), busy);
  driver_.release();
  EXPECT_TRUE(cuda.wait_until_idle(0, 10));
  EXPECT_EQ(increment(cuda, 0), right);
}

TEST_F(CudaTest, an_interrupted_wait_ends_and_the_work_goes_on) {
  CudaBackend cuda = backend();
  Resident arrays(cuda, 100);
  const auto plan = cuda.prepare(xor_, 0)->plan(arrays.views, {2, 1, 1});
  driver_.hold();
  plan->submit(arrays.views, {});
  RunOptions options;
  options.interrupted = [] { return true; };
  EXPECT_THROW(arrays.storages[2]->wait(options), Interrupted);
  driver_.release();
  EXPECT_TRUE(arrays.right());
}

TEST_F(CudaTest, calls_that_nobody_waits_for_do_not_pile_up) {
  CudaBackend cuda = backend();
  Resident arrays(cuda, 100);
  const auto plan = cuda.prepare(xor_, 0)->plan(arrays.views, {2, 1, 1});
  driver_.hold();
  RunOptions options;
  options.timeout = std::chrono::milliseconds(50);
  driver_.forget_calls();
  EXPECT_THROW(
      {
        for (int call = 0; call < 2000; ++call) plan->submit(arrays.views, options);
      },
      DispatchTimeoutError);
  EXPECT_LT(driver_.calls("cuLaunchKernel"), 1000) << "the driver would block beyond about as many";
  driver_.release();
  EXPECT_THROW(arrays.out(), DispatchTimeoutError) << "the call that was not submitted";
}

TEST_F(CudaTest, a_lost_device_loses_its_arrays_and_is_opened_anew) {
  CudaBackend cuda = backend();
  const auto executable = cuda.prepare(xor_, 0);
  Resident arrays(cuda, 100);
  const auto plan = executable->plan(arrays.views, {2, 1, 1});
  driver_.fail("cuLaunchKernel", 1, run::cuda::CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(
      message_of([&] { plan->submit(arrays.views, {}); }),
      "cuLaunchKernel failed: the device was lost on device `Fake 0` (CUDA_ERROR_OF_THE_TEST). Fix: call again, which opens the device "
      "anew; if it is lost again, start the process anew: libraries that share the device's context keep it as it is.");
  EXPECT_EQ(message_of([&] { arrays.out(); }),
            "device `Fake 0` was lost, and the arrays on it with it. Fix: make them anew, and call again.");
  Arrays host(100);
  host.run(*executable);
  EXPECT_TRUE(host.right());
  Resident anew(cuda, 100);
  executable->plan(anew.views, {2, 1, 1})->submit(anew.views, {});
  EXPECT_TRUE(anew.right());
}

// Everything that a backend does, once.
void do_everything(CudaBackend& cuda, const validate::ValidProgram& program, bool& right) {
  right = false;
  const auto executable = cuda.prepare(program, 0);
  executable->driver_facts({});
  const Words a = counted(100, 3), b = counted(100, 5);
  Words copies[] = {a, b, Words(100)};
  const run::BufferView views[] = {view(copies[0]), view(copies[1]), view(copies[2])};
  executable->run(views, {2, 1, 1}, {});
  std::vector<std::unique_ptr<run::Storage>> storages;
  std::vector<StorageView> resident;
  for (const std::uint64_t words : {100u, 100u, 100u, 100u, 100u}) {
    storages.push_back(cuda.allocate(0, 4 * words, true));
    resident.push_back({storages.back().get(), 0, 4 * words, static_cast<std::uint32_t>(words)});
  }
  storages[0]->write(0, bytes_of(a), {});
  storages[1]->write(0, bytes_of(b), {});
  const std::shared_ptr<run::Plan> plan = executable->plan(std::span(resident).first(3), {2, 1, 1});
  // Two calls that share what they read, and one that comes after both.
  const std::vector<StorageView> other = {resident[0], resident[1], resident[3]}, both = {resident[2], resident[3], resident[4]};
  const std::vector<StorageView> first = {resident[0], resident[1], resident[2]};
  cuda.sequence({{plan, first}, {plan, other}, {plan, both}})->submit(2, {});
  Words got(100), last(100, 1);
  storages[2]->read(0, std::as_writable_bytes(std::span(got)), {});
  storages[4]->read(0, std::as_writable_bytes(std::span(last)), {});
  right = copies[2] == xor_of(a, b) && got == xor_of(a, b) && last == Words(100, 0);
}

// Which kind of error a failed call must become.
std::string kind_wanted(CUresult result) {
  return result == run::cuda::CUDA_ERROR_OUT_OF_MEMORY ? "memory" : run::cuda::is_lost(result) ? "lost" : "device";
}

// Whether the submission thread passes all that it can, or what it does by default.
class CudaFailuresTest : public CudaTest, public testing::WithParamInterface<std::optional<bool>> {};
INSTANTIATE_TEST_SUITE_P(SubmittedByCallers, CudaFailuresTest, testing::Values(std::nullopt));
INSTANTIATE_TEST_SUITE_P(SubmittedBeside, CudaFailuresTest, testing::Values(true));

TEST_P(CudaFailuresTest, every_failure_of_every_function_is_a_typed_error_and_the_next_call_works) {
  // These fail without a word: what they would free is the driver's, marks are recorded again by the next wait, and a name is told by its
  // number.
  const std::vector<std::string> silent = {
      "cuGetErrorName",   "cuDevicePrimaryCtxRelease", "cuCtxGetCurrent", "cuCtxPopCurrent", "cuStreamDestroy", "cuEventDestroy",
      "cuMemPoolDestroy", "cuMemPoolTrimTo",           "cuMemFreeAsync",  "cuMemFreeHost",   "cuLinkDestroy",   "cuModuleUnload",
      "cuGraphDestroy",   "cuGraphExecDestroy"};
  int failures = 0;
  for (const std::string& function : FakeCuda::functions()) {
    for (const CUresult result :
         {run::cuda::CUDA_ERROR_OUT_OF_MEMORY, run::cuda::CUDA_ERROR_ILLEGAL_ADDRESS, run::cuda::CUDA_ERROR_UNKNOWN}) {
      for (int nth = 1; nth < 40; ++nth) {
        SCOPED_TRACE(testing::Message() << function << ", call " << nth << ", result " << result);
        const Directory cache;
        CudaBackend cuda = backend({.submission_thread = GetParam(), .cache_directory = cache.path});
        driver_.fail(function, nth, result);
        bool right = false;
        const std::string kind = outcome_of([&] { do_everything(cuda, xor_, right); }).kind;
        if (!driver_.failed()) {
          EXPECT_TRUE(right);
          driver_.work();
          break;
        }
        ++failures;
        const bool is_silent = std::ranges::find(silent, function) != silent.end();
        // The driver is asked again after memory ran out.
        const bool again = function == "cuMemAllocFromPoolAsync" && result == run::cuda::CUDA_ERROR_OUT_OF_MEMORY;
        // Memory that is given back while the context cannot be made the current one stays taken.
        const bool freeing = function == "cuCtxPushCurrent" && kind == "none";
        if (is_silent || again || freeing) {
          EXPECT_EQ(kind, "none");
          EXPECT_TRUE(right);
        } else {
          EXPECT_EQ(kind, kind_wanted(result));
        }
        do_everything(cuda, xor_, right);
        EXPECT_TRUE(right) << "the next call";
      }
    }
  }
  EXPECT_GT(failures, 200);
}

TEST_F(CudaTest, a_profile_never_changes_what_a_call_gives) {
  int failures = 0;
  for (const char* function : {"cuEventCreate", "cuEventRecord", "cuEventElapsedTime"}) {
    for (int nth = 1; nth < 60; ++nth) {
      SCOPED_TRACE(testing::Message() << function << ", call " << nth);
      CudaBackend cuda = backend();
      const auto executable = cuda.prepare(xor_, 0);
      Resident arrays(cuda, 100);
      const auto plan = executable->plan(arrays.views, {2, 1, 1});
      arrays.out();
      const auto profile = run::Profile::begin(100);
      driver_.fail(function, nth, run::cuda::CUDA_ERROR_UNKNOWN);
      std::string said;
      try {
        plan->submit(arrays.views, {});
        EXPECT_TRUE(arrays.right());
      } catch (const DeviceError& error) {
        said = error.what();  // a wait's own event, not the profile's
      }
      driver_.work();
      profile->end({});
      failures += driver_.failed() ? 1 : 0;
      EXPECT_TRUE(said.empty() || function != std::string("cuEventElapsedTime")) << said;
      EXPECT_TRUE(arrays.right());
    }
  }
  EXPECT_GT(failures, 10);
}

// The driver's kernels are run by the cpu backend, which the profile shows too.
bool is_of_cuda(const run::ProfileReport& report, std::size_t device) {
  return device != run::ProfileEvent::kHost && report.devices.at(device).label.backend == "cuda";
}

TEST_F(CudaTest, a_profile_of_many_calls_loses_times_and_nothing_else_when_the_driver_tells_none) {
  constexpr int kCalls = 200;
  for (const int nth : {1, 2, 50, 200}) {
    SCOPED_TRACE(nth);
    {
      CudaBackend cuda = backend();
      Resident arrays(cuda, 100);
      const auto plan = cuda.prepare(xor_, 0)->plan(arrays.views, {2, 1, 1});
      const auto profile = run::Profile::begin(1000);
      plan->submit(arrays.views, {});
      driver_.fail("cuEventElapsedTime", nth, run::cuda::CUDA_ERROR_UNKNOWN);
      for (int call = 1; call < kCalls; ++call) plan->submit(arrays.views, {});
      EXPECT_TRUE(arrays.right());
      profile->end({});
      EXPECT_TRUE(driver_.failed());
      const run::ProfileReport report = profile->report();
      EXPECT_EQ(report.notes,
                std::vector<std::string>{"some work of a device has no times of its own: cuEventElapsedTime failed on device `Fake 0` "
                                         "(CUDA_ERROR_OF_THE_TEST). Fix: check the CUDA driver's installation, or use another device."});
      std::uint64_t dispatches = 0;
      for (const run::ProfileReport::Row& row : report.rows) {
        if (row.name == "dispatch" && is_of_cuda(report, row.device)) dispatches += row.calls;
      }
      EXPECT_EQ(dispatches, std::uint64_t{kCalls});
    }
    EXPECT_EQ(driver_.leaks(), std::vector<std::string>());
  }
}

TEST_F(CudaTest, a_call_that_fails_under_a_profile_gives_its_events_back) {
  {
    CudaBackend cuda = backend();
    Resident arrays(cuda, 100);
    const auto plan = cuda.prepare(xor_, 0)->plan(arrays.views, {2, 1, 1});
    const auto profile = run::Profile::begin(1000);
    plan->submit(arrays.views, {});
    driver_.fail("cuLaunchKernel", 1, run::cuda::CUDA_ERROR_UNKNOWN);
    EXPECT_THROW(plan->submit(arrays.views, {}), DeviceError);
    profile->end({});
  }
  EXPECT_EQ(driver_.leaks(), std::vector<std::string>());
}

TEST_F(CudaTest, times_of_calls_are_exact_however_long_a_profile_is_open) {
  CudaBackend cuda = backend();
  Resident arrays(cuda, 100);
  const auto plan = cuda.prepare(xor_, 0)->plan(arrays.views, {2, 1, 1});
  const auto profile = run::Profile::begin(1000);
  plan->submit(arrays.views, {});
  driver_.pass_time(std::int64_t{60} * 1'000'000'000);
  for (int call = 0; call < 100; ++call) plan->submit(arrays.views, {});
  // While the profile is open, its times are the device's own.
  const run::ProfileReport report = profile->report();
  ASSERT_GT(report.events.size(), 64u);
  std::vector<std::int64_t> durations, distances;
  std::optional<std::int64_t> last;
  for (const run::ProfileEvent& event : report.events) {
    if (!is_of_cuda(report, event.device)) continue;
    durations.push_back(event.duration);
    if (last) distances.push_back(event.start - *last);
    last = event.start;
  }
  EXPECT_EQ(durations, std::vector<std::int64_t>(durations.size(), FakeCuda::kOperationTime));
  // The driver tells the time between two events as a float, of which 60 s are a multiple of 2^-8 ms.
  EXPECT_LE(std::abs(distances.at(0) - 60'000'000'000 - FakeCuda::kOperationTime), 1954);
  distances.erase(distances.begin());
  EXPECT_EQ(distances, std::vector<std::int64_t>(distances.size(), FakeCuda::kOperationTime));
  profile->end({});
}

TEST_F(CudaTest, the_device_clock_says_by_how_much_it_may_be_wrong) {
  const auto instance = std::make_shared<run::cuda::Instance>(driver_.library());
  const auto device = run::cuda::Device::open(instance, instance->devices().at(0), {.cache_directory = cache_.path});
  const std::int64_t began = driver_.time();
  const auto first = device->timing().read({});
  EXPECT_EQ(first->rounding, 0);
  driver_.pass_time(1'000'000);
  const auto second = device->timing().read({});
  EXPECT_EQ(second->device - first->device, driver_.time() - began);
  EXPECT_EQ(second->rounding, 0);
  driver_.pass_time(60'000'001'003);
  const auto third = device->timing().read({});
  EXPECT_NE(third->device - first->device, driver_.time() - began) << "a float has no such number";
  EXPECT_LE(std::abs(third->device - first->device - (driver_.time() - began)), third->rounding);
  EXPECT_EQ(third->rounding, 1954) << "half of 2^-8 ms, rounded up";
}

TEST_F(CudaTest, nothing_is_left_when_a_backend_ends) {
  {
    CudaBackend cuda = backend();
    bool right = false;
    do_everything(cuda, xor_, right);
    EXPECT_TRUE(right);
  }
  EXPECT_EQ(driver_.leaks(), std::vector<std::string>());
}

// A sequence with a graph that owns memory of the device, for the counts of its grids.
struct WithGraph {
  std::vector<std::unique_ptr<run::Storage>> storages;
  std::unique_ptr<run::Sequence> sequence;
  WithGraph(CudaBackend& cuda, Executable& executable) {
    std::vector<StorageView> views;
    for (int k = 0; k < 3; ++k) {
      storages.push_back(cuda.allocate(0, 4 * 640, true));
      views.push_back({storages.back().get(), 0, 4 * 640, 640});
    }
    storages.push_back(cuda.allocate(0, 12, true));
    views.push_back({storages.back().get(), 0, 12, 3, StorageView::Role::Invocations});
    const std::shared_ptr<run::Plan> plan = executable.plan(views, {10, 1, 1});
    sequence = cuda.sequence({{plan, views}, {plan, views}});
  }
};

TEST_F(CudaTest, a_graph_that_is_destroyed_while_the_device_works_on_it_leaves_nothing_behind) {
  {
    CudaBackend cuda = backend();
    WithGraph arrays(cuda, *cuda.prepare(xor_, 0));
    driver_.hold();
    arrays.sequence->submit(2, {});
    arrays.sequence.reset();
    driver_.release();
  }
  EXPECT_GT(driver_.calls("cuGraphExecDestroy"), 0);
  EXPECT_EQ(driver_.leaks(), std::vector<std::string>());
}

TEST_F(CudaTest, a_graph_of_a_lost_device_gives_its_memory_back_before_the_pool_goes) {
  CudaBackend cuda = backend({.submission_thread = false});
  const auto executable = cuda.prepare(xor_, 0);
  {
    WithGraph arrays(cuda, *executable);
    driver_.hold();
    arrays.sequence->submit(1, {});
    driver_.fail("cuGraphLaunch", 1, run::cuda::CUDA_ERROR_ILLEGAL_ADDRESS);
    EXPECT_THROW(arrays.sequence->submit(1, {}), DeviceLostError);
  }
  driver_.release();
  // Opens the device anew, which ends the lost one.
  Arrays host(100);
  host.run(*executable);
  EXPECT_TRUE(host.right());
}

TEST_F(CudaTest, a_device_that_still_works_when_its_last_owner_leaves_stays_open) {
  {
    CudaBackend cuda = backend();
    WithGraph arrays(cuda, *cuda.prepare(xor_, 0));
    driver_.hold();
    arrays.sequence->submit(1, {});
  }
  EXPECT_EQ(driver_.calls("cuDevicePrimaryCtxRelease"), 0);
  EXPECT_EQ(driver_.calls("cuStreamDestroy"), 1) << "that of the capture";
}

TEST_F(CudaTest, a_forked_child_is_refused) {
  CudaBackend cuda = backend();
  Resident arrays(cuda, 100);
  const auto executable = cuda.prepare(xor_, 0);
  const pid_t child = fork();
  if (child == 0) {
    const std::string wanted = "CUDA was opened before this process was forked, and its driver does not survive that.";
    const bool storage = message_of([&] { arrays.out(); }).starts_with(wanted);
    const bool call = message_of([&] { Arrays(10).run(*executable); }).starts_with(wanted);
    const bool fresh = message_of([&] { cuda.allocate(0, 4, true); }).starts_with(wanted);
    _exit(storage && call && fresh ? 0 : 1);
  }
  int status = 1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(arrays.out(), Words(100, 0));
}

void call_from_threads(const std::function<bool()>& call) {
  std::atomic<int> right = 0;
  {
    std::vector<std::jthread> threads;
    for (int k = 0; k < 8; ++k) {
      threads.emplace_back([&] {
        for (int turn = 0; turn < 20; ++turn) right += call() ? 1 : 0;
      });
    }
  }
  EXPECT_EQ(right, 160);
}

TEST_F(CudaTest, threads_may_call_at_once) {
  for (const std::optional<bool> thread : {std::optional<bool>(), std::optional(true), std::optional(false)}) {
    CudaBackend cuda = backend({.submission_thread = thread});
    const std::shared_ptr<Executable> executable = cuda.prepare(xor_, 0);
    call_from_threads([&] {
      Arrays host(100);
      host.run(*executable);
      Resident arrays(cuda, 300);
      const auto plan = executable->plan(arrays.views, {5, 1, 1});
      for (int turn = 0; turn < 9; ++turn) plan->submit(arrays.views, {});
      return host.right() && arrays.right();
    });
  }
}

// The submission thread, which passes everything to the driver that it can.
class CudaSubmissionTest : public CudaTest {
 protected:
  CudaSubmissionTest() { driver_.knows(mix_); }

  // `state = 31 * state + a`, whose result depends on the order of the calls.
  struct Mixed {
    std::unique_ptr<run::Storage> a, state;
    std::vector<StorageView> views;
    std::unique_ptr<run::Plan> plan;
    Mixed(CudaBackend& cuda, Executable& executable) : a(cuda.allocate(0, 4, true)), state(cuda.allocate(0, 4, true)) {
      views = {{a.get(), 0, 4, 1}, {state.get(), 0, 4, 1}};
      plan = executable.plan(views, {1, 1, 1});
    }
    void submit(std::uint32_t word, const RunOptions& options = {}) {
      a->write(0, std::as_bytes(std::span(&word, 1)), options);
      plan->submit(views, options);
    }
    std::uint32_t result() {
      std::uint32_t word = 0;
      state->read(0, std::as_writable_bytes(std::span(&word, 1)), {});
      return word;
    }
  };
  static std::uint32_t mixed(std::uint32_t turns) {
    std::uint32_t state = 0;
    for (std::uint32_t turn = 1; turn <= turns; ++turn) state = 31 * state + turn;
    return state;
  }

  const validate::ValidProgram mix_ =
      valid(Sample().in("a").out("state").size(1).add(store("state", u32(0), load("state", u32(0)) * u32(31) + load("a", u32(0)))).make());
  CudaBackend cuda_ = backend({.submission_thread = true});
  const std::shared_ptr<Executable> mix_code_ = cuda_.prepare(mix_, 0);
};

TEST_F(CudaSubmissionTest, passes_copies_launches_and_freed_memory_in_the_order_in_which_they_were_handed_in) {
  const std::vector<std::string> functions = {"cuMemcpyHtoDAsync", "cuLaunchKernel", "cuMemFreeAsync"};
  std::vector<std::string> expected;
  {
    Mixed arrays(cuda_, *mix_code_);
    arrays.submit(1);
    EXPECT_EQ(arrays.result(), mixed(1));
    driver_.forget_calls();
    for (std::uint32_t turn = 2; turn <= 300; ++turn) {
      arrays.submit(turn);
      if (turn % 100 == 0) cuda_.allocate(0, 64, true).reset();
      expected.insert(expected.end(), {functions[0], functions[1]});
      if (turn % 100 == 0) expected.push_back(functions[2]);
    }
    while (driver_.calls("cuLaunchKernel") < 299) std::this_thread::yield();
    EXPECT_EQ(arrays.result(), mixed(300));
  }
  EXPECT_GT(driver_.calls_elsewhere("cuLaunchKernel"), 0);
  const std::vector<std::string> order = driver_.order(functions);
  EXPECT_EQ(std::vector<std::string>(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(expected.size())), expected);
}

TEST_F(CudaSubmissionTest, a_call_returns_while_the_driver_is_held_up_and_a_wait_for_it_can_time_out) {
  Mixed arrays(cuda_, *mix_code_);
  arrays.submit(1);
  EXPECT_EQ(arrays.result(), mixed(1));
  driver_.stall("cuLaunchKernel");
  for (std::uint32_t turn = 2; turn <= 40; ++turn) arrays.submit(turn);
  driver_.wait_until_stalled();
  RunOptions options;
  options.timeout = std::chrono::milliseconds(20);
  EXPECT_THROW(arrays.state->wait(options), DispatchTimeoutError);
  options.timeout.reset();
  options.interrupted = [] { return true; };
  EXPECT_THROW(arrays.state->wait(options), Interrupted);
  driver_.resume();
  EXPECT_EQ(arrays.result(), mixed(40));
}

TEST_F(CudaSubmissionTest, reports_a_failure_typed_at_the_next_wait_and_call_and_opens_the_device_anew) {
  for (const CUresult result :
       {run::cuda::CUDA_ERROR_UNKNOWN, run::cuda::CUDA_ERROR_OUT_OF_MEMORY, run::cuda::CUDA_ERROR_ILLEGAL_ADDRESS}) {
    SCOPED_TRACE(result);
    const std::string kind = kind_wanted(result);
    Mixed arrays(cuda_, *mix_code_);
    arrays.submit(1);
    EXPECT_EQ(arrays.result(), mixed(1));
    driver_.stall("cuLaunchKernel");
    driver_.fail("cuLaunchKernel", 1, result);
    for (std::uint32_t turn = 2; turn <= 10; ++turn) arrays.submit(turn);
    driver_.wait_until_stalled();
    driver_.forget_calls();
    driver_.resume();
    EXPECT_EQ(outcome_of([&] { arrays.state->wait({}); }).kind, kind);
    EXPECT_TRUE(driver_.failed());
    EXPECT_EQ(driver_.calls("cuLaunchKernel"), 1) << "what followed is dropped";
    EXPECT_EQ(outcome_of([&] { arrays.plan->submit(arrays.views, {}); }).kind, kind);
    EXPECT_EQ(outcome_of([&] { arrays.result(); }).kind, kind);
    if (kind == "device") {
      EXPECT_EQ(
          outcome_of([&] { arrays.result(); }).text,
          "cuLaunchKernel failed on device `Fake 0` (CUDA_ERROR_OF_THE_TEST). Fix: check the CUDA driver's installation, or use another "
          "device.");
    }
    Arrays host(100);
    host.run(*cuda_.prepare(xor_, 0));
    EXPECT_TRUE(host.right());
  }
}

TEST_F(CudaSubmissionTest, gives_everything_back_after_a_failure_that_did_not_lose_the_device) {
  {
    Mixed arrays(cuda_, *mix_code_);
    arrays.submit(1);
    EXPECT_EQ(arrays.result(), mixed(1));
    Words theirs(1);
    const auto adopted = cuda_.adopt(0, {reinterpret_cast<CUdeviceptr>(theirs.data()), 4, nullptr});
    driver_.stall("cuLaunchKernel");
    driver_.fail("cuLaunchKernel", 1, run::cuda::CUDA_ERROR_UNKNOWN);
    for (std::uint32_t turn = 2; turn <= 10; ++turn) {
      arrays.submit(turn);
      adopted->wait_for(nullptr);
      cuda_.allocate(0, 64, true).reset();
    }
    driver_.wait_until_stalled();
    driver_.resume();
    EXPECT_THROW(arrays.state->wait({}), DeviceError);
  }
  const_cast<std::shared_ptr<Executable>&>(mix_code_).reset();
  cuda_ = backend();
  EXPECT_EQ(driver_.leaks(), std::vector<std::string>());
}

TEST_F(CudaSubmissionTest, work_that_is_handed_in_is_done_when_its_arrays_and_the_device_go) {
  {
    Mixed arrays(cuda_, *mix_code_);
    arrays.submit(1);
    EXPECT_EQ(arrays.result(), mixed(1));
    driver_.forget_calls();
    driver_.hold();
    for (std::uint32_t turn = 2; turn <= 30; ++turn) arrays.submit(turn);
  }
  driver_.release();
  const_cast<std::shared_ptr<Executable>&>(mix_code_).reset();
  cuda_ = backend();
  EXPECT_EQ(driver_.calls("cuLaunchKernel"), 29);
  EXPECT_EQ(driver_.leaks(), std::vector<std::string>());
}

TEST_F(CudaSubmissionTest, orders_streams_of_other_libraries_by_what_was_handed_in_until_then) {
  Mixed arrays(cuda_, *mix_code_);
  arrays.submit(1);
  EXPECT_EQ(arrays.result(), mixed(1));
  Words theirs(1);
  const auto adopted = cuda_.adopt(0, {reinterpret_cast<CUdeviceptr>(theirs.data()), 4, nullptr});
  driver_.forget_calls();
  driver_.stall("cuLaunchKernel");
  arrays.submit(2);
  adopted->wait_for(nullptr);
  EXPECT_EQ(driver_.calls("cuEventRecord"), 1) << "on the other library's stream, at once";
  arrays.submit(3);
  driver_.wait_until_stalled();
  driver_.resume();
  adopted->let_wait(nullptr);
  const std::string launch = "cuLaunchKernel", record = "cuEventRecord", wait = "cuStreamWaitEvent";
  EXPECT_EQ(driver_.order({launch, record, wait}), (std::vector<std::string>{record, launch, wait, launch, record, wait}));
  EXPECT_EQ(arrays.result(), mixed(3));
}

TEST_F(CudaSubmissionTest, a_forked_child_is_refused_while_work_waits) {
  Mixed arrays(cuda_, *mix_code_);
  arrays.submit(1);
  EXPECT_EQ(arrays.result(), mixed(1));
  driver_.stall("cuLaunchKernel");
  for (std::uint32_t turn = 2; turn <= 10; ++turn) arrays.submit(turn);
  driver_.wait_until_stalled();
  const pid_t child = fork();
  if (child == 0) {
    const std::string wanted = "CUDA was opened before this process was forked, and its driver does not survive that.";
    const bool read = message_of([&] { arrays.result(); }).starts_with(wanted);
    const bool call = message_of([&] { arrays.submit(11); }).starts_with(wanted);
    arrays.a.reset();
    arrays.plan.reset();
    _exit(read && call ? 0 : 1);
  }
  int status = 1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  driver_.resume();
  EXPECT_EQ(arrays.result(), mixed(10));
}

TEST_F(CudaTest, callers_submit_themselves_after_a_wait_and_leave_longer_bursts_to_the_thread) {
  CudaBackend cuda = backend();
  Resident arrays(cuda, 100);
  const auto plan = cuda.prepare(xor_, 0)->plan(arrays.views, {2, 1, 1});
  // The uploads are submissions, too, and may not have been waited for.
  plan->submit(arrays.views, {});
  EXPECT_TRUE(arrays.right());
  driver_.forget_calls();
  for (int turn = 0; turn < 50; ++turn) {
    for (int call = 0; call < 4; ++call) plan->submit(arrays.views, {});
    EXPECT_TRUE(arrays.right());
  }
  EXPECT_EQ(driver_.calls_elsewhere("cuLaunchKernel"), 0);
  for (int call = 0; call < 5; ++call) plan->submit(arrays.views, {});
  while (driver_.calls("cuLaunchKernel") < 205) std::this_thread::yield();
  EXPECT_EQ(driver_.calls_elsewhere("cuLaunchKernel"), 1);
  EXPECT_TRUE(arrays.right());
}

TEST_F(CudaTest, memory_of_another_library_is_worked_with_where_it_lies_and_given_back_when_nothing_uses_it) {
  CudaBackend cuda = backend();
  const Words a = counted(100, 3), b = counted(100, 5);
  Words out(100);
  std::vector<std::unique_ptr<run::cuda::CudaStorage>> storages;
  std::vector<StorageView> views;
  bool given_back = false;
  for (const Words* const words : std::initializer_list<const Words*>{&a, &b, &out}) {
    const auto address = reinterpret_cast<CUdeviceptr>(words->data());
    EXPECT_EQ(cuda.device_of(address), 0u);
    const std::shared_ptr<void> owner(&given_back, [](void* flag) { *static_cast<bool*>(flag) = true; });
    storages.push_back(cuda.adopt(0, {address, 400, owner}));
    storages.back()->wait_for(nullptr);
    views.push_back({storages.back().get(), 0, 400, 100});
  }
  cuda.prepare(xor_, 0)->plan(views, {2, 1, 1})->submit(views, {});
  storages[2]->let_wait(nullptr);
  storages[2]->wait({});
  EXPECT_EQ(out, xor_of(a, b));
  EXPECT_EQ(driver_.calls("cuStreamWaitEvent"), 4);
  EXPECT_FALSE(given_back);
  storages.clear();
  EXPECT_TRUE(given_back);
  EXPECT_EQ(message_of([&] { cuda.device_of(0); }),
            "address 0x0 lies on no CUDA device of this process. Fix: pass an array that its library still keeps.");
}

// An array of another library, and whether it has its memory back.
struct Foreign {
  Words words = Words(100, 7);
  std::atomic<bool> given_back = false;
  std::unique_ptr<run::cuda::CudaStorage> adopted(CudaBackend& cuda, std::uint64_t bytes = 400) {
    const std::shared_ptr<void> owner(&given_back, [](void* flag) { *static_cast<std::atomic<bool>*>(flag) = true; });
    return cuda.adopt(0, {reinterpret_cast<CUdeviceptr>(words.data()), bytes, owner});
  }
};

TEST_F(CudaTest, memory_of_another_library_goes_back_once_the_device_is_done_with_it_and_its_destruction_does_not_wait) {
  CudaBackend cuda = backend();
  Foreign first, second, third;
  auto storage = first.adopted(cuda);
  driver_.hold();
  storage->write(0, bytes_of(Words(100, 8)), {});
  storage.reset();
  EXPECT_FALSE(first.given_back);
  // The next array finds that the device is still at work.
  auto next = second.adopted(cuda);
  EXPECT_FALSE(first.given_back);
  driver_.release();
  EXPECT_EQ(first.words, Words(100, 8));
  EXPECT_FALSE(first.given_back);
  const auto last = third.adopted(cuda);
  EXPECT_TRUE(first.given_back) << "without a wait";
  next.reset();
  EXPECT_TRUE(second.given_back) << "the device does not use it";
}

TEST_F(CudaTest, memory_of_another_library_goes_back_when_the_device_is_closed) {
  Foreign foreign;
  {
    CudaBackend cuda = backend();
    auto storage = foreign.adopted(cuda);
    driver_.hold();
    storage->write(0, bytes_of(Words(100, 8)), {});
    storage.reset();
    EXPECT_FALSE(foreign.given_back);
    driver_.release();
  }
  EXPECT_TRUE(foreign.given_back);
  EXPECT_EQ(driver_.leaks(), std::vector<std::string>());
}

TEST_F(CudaTest, so_much_memory_of_another_library_is_waited_for) {
  CudaBackend cuda = backend();
  Foreign foreign;
  // A sixteenth of the device's memory, and more.
  auto storage = foreign.adopted(cuda, (std::uint64_t{1} << 28) + 4);
  driver_.hold();
  storage->write(0, bytes_of(Words(100, 8)), {});
  std::atomic<bool> destroyed = false;
  std::jthread destroying([&] {
    storage.reset();
    destroyed = true;
  });
  // The wait asks the driver again and again.
  while (driver_.calls("cuEventQuery") < 100) std::this_thread::yield();
  EXPECT_FALSE(destroyed);
  driver_.release();
  destroying.join();
  EXPECT_TRUE(foreign.given_back);
}

TEST_F(CudaTest, memory_that_another_library_may_use_goes_back_when_the_device_is_idle) {
  CudaBackend cuda = backend();
  auto storage = cuda.allocate(0, 400, true);
  static_cast<run::cuda::CudaStorage&>(*storage).share();
  EXPECT_EQ(driver_.calls("cuCtxSynchronize"), 0);
  storage.reset();
  EXPECT_EQ(driver_.calls("cuCtxSynchronize"), 1);
  cuda.allocate(0, 400, true).reset();
  EXPECT_EQ(driver_.calls("cuCtxSynchronize"), 1) << "only what was shared";
}

TEST_F(CudaTest, a_context_that_was_given_back_is_lost_also_on_a_thread_without_a_context) {
  const auto instance = std::make_shared<run::cuda::Instance>(driver_.library());
  run::cuda::Context context(instance, instance->devices().at(0), {});
  context.release();
  EXPECT_THROW(const run::cuda::Current current(context), DeviceLostError);
  EXPECT_TRUE(context.lost());
  EXPECT_EQ(driver_.calls("cuCtxPushCurrent"), 0);
}

TEST_F(CudaTest, limits_of_the_device_are_named) {
  CudaBackend cuda = backend();
  EXPECT_EQ(message_of([&] { cuda.allocate(0, std::uint64_t{1} << 33, false); }),
            "an array of 8589934592 bytes exceeds the memory of device `Fake 0`, which has 4294967296. Fix: make a smaller array, or use "
            "another device.");
  driver_.set_attribute(run::cuda::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 32);
  CudaBackend small = backend();
  EXPECT_EQ(message_of([&] { small.prepare(xor_, 0); }),
            "64 invocations a workgroup exceeds maxComputeWorkGroupInvocations of device `Fake 0`, which allows 32. Fix: use a smaller "
            "workgroup_size, or use another device.");
  EXPECT_EQ(message_of([&] { cuda.prepare(xor_, 1); }),
            "device 1 does not exist, there are 1. Fix: pass the index of an entry of devices().");
}

class CudaTwoDevicesTest : public CudaTest {
 protected:
  CudaTwoDevicesTest() : CudaTest(2) {}
};

// What another library finds current on the calling thread.
CUcontext current_on(const run::cuda::Api& api) {
  CUcontext now = nullptr;
  api.cuCtxGetCurrent(&now);
  return now;
}

TEST_F(CudaTwoDevicesTest, a_thread_without_a_context_keeps_that_of_the_first_device_and_no_other) {
  const auto instance = std::make_shared<run::cuda::Instance>(driver_.library());
  run::cuda::Context first(instance, instance->devices().at(0), {}), second(instance, instance->devices().at(1), {});
  const run::cuda::Api& api = instance->api();
  std::jthread([&] {
    { const run::cuda::Current current(second); }
    EXPECT_EQ(current_on(api), nullptr) << "another library would run on the second device";
    { const run::cuda::Current current(first); }
    CUcontext of_first = nullptr;
    api.cuDevicePrimaryCtxRetain(&of_first, 0);
    api.cuDevicePrimaryCtxRelease(0);
    EXPECT_EQ(current_on(api), of_first);
    driver_.forget_calls();
    { const run::cuda::Current current(first); }
    EXPECT_EQ(driver_.order(FakeCuda::functions()), (std::vector<std::string>{"cuCtxGetCurrent"}));
    { const run::cuda::Current current(second); }
    EXPECT_EQ(current_on(api), of_first) << "what was current is so again";
  }).join();
}

TEST_F(CudaTwoDevicesTest, one_goes_on_when_the_other_is_lost) {
  CudaBackend cuda = backend();
  ASSERT_EQ(cuda.devices().size(), 2u);
  const auto first_code = cuda.prepare(xor_, 0), second_code = cuda.prepare(xor_, 1);
  Resident first(cuda, 100), second(cuda, 100, 0, 1);
  const std::shared_ptr<run::Plan> first_plan = first_code->plan(first.views, {2, 1, 1});
  const std::shared_ptr<run::Plan> second_plan = second_code->plan(second.views, {2, 1, 1});
  const auto first_graph = cuda.sequence({{first_plan, first.views}, {first_plan, first.views}});
  const auto second_graph = cuda.sequence({{second_plan, second.views}, {second_plan, second.views}});
  driver_.lose(0, run::cuda::CUDA_ERROR_NVLINK_UNCORRECTABLE);
  EXPECT_THROW(first_graph->submit(1, {}), DeviceLostError);
  EXPECT_THROW(first_plan->submit(first.views, {}), DeviceLostError);
  EXPECT_THROW(first.out(), DeviceLostError);
  second_plan->submit(second.views, {});
  EXPECT_TRUE(second.right());
  second_graph->submit(3, {});
  EXPECT_TRUE(second.right());
  Arrays host(100);
  host.run(*second_code);
  EXPECT_TRUE(host.right());
  // The next call opens the lost one anew, and leaves the other as it is.
  const int streams = driver_.calls("cuStreamCreate");
  Resident anew(cuda, 100);
  first_code->plan(anew.views, {2, 1, 1})->submit(anew.views, {});
  EXPECT_TRUE(anew.right());
  EXPECT_EQ(driver_.calls("cuStreamCreate"), streams + 1);
  second_plan->submit(second.views, {});
  EXPECT_TRUE(second.right());
}

TEST(CudaDevices, say_why_they_cannot_be_used) {
  {
    CudaBackend absent([] { return run::cuda::Library{nullptr, "there is none. Fix: get one."}; });
    EXPECT_EQ(absent.reasons_unavailable(), std::vector<std::string>{"there is none. Fix: get one."});
    EXPECT_TRUE(absent.devices().empty());
  }
  {
    FakeCuda driver(0);
    CudaBackend cuda([&] { return driver.library(); });
    EXPECT_EQ(
        cuda.reasons_unavailable(),
        std::vector<std::string>{"the CUDA driver finds no GPU. Fix: give the container or the process one, for example with `docker run "
                                 "--gpus all`."});
  }
  FakeCuda driver;
  driver.set_version(11020);
  driver.set_attribute(run::cuda::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 6);
  driver.set_attribute(run::cuda::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 1);
  driver.set_attribute(run::cuda::CU_DEVICE_ATTRIBUTE_COMPUTE_MODE, run::cuda::CU_COMPUTEMODE_PROHIBITED);
  driver.set_attribute(run::cuda::CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, 0);
  CudaBackend cuda([&] { return driver.library(); });
  const std::vector<std::string> reasons = {
      "device `Fake 0` has a driver of CUDA 11.2, and 11.4 is needed. Fix: update the driver.",
      "device `Fake 0` has compute capability 6.1, and 7.5 is needed. Fix: use a newer GPU, or backend `vulkan`.",
      "device `Fake 0` is set to take no compute work. Fix: change its mode with `nvidia-smi --compute-mode=0`.",
      "device `Fake 0` has no stream-ordered memory. Fix: use backend `vulkan` or `cpu`."};
  EXPECT_EQ(cuda.devices().at(0).reasons, reasons);
  EXPECT_EQ(cuda.reasons_unavailable().at(0), reasons[0] + " " + reasons[1] + " " + reasons[2] + " " + reasons[3]);
}

}  // namespace
}  // namespace vyre::test
