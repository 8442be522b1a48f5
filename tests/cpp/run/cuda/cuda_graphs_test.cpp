// Sequences of calls become CUDA graphs, whose calls wait for those alone that they share arrays with.
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "run/cuda/cuda_fixture.hpp"
#include "vyre/run/profile.hpp"

namespace vyre::test {
namespace {

using namespace sample;

TEST_F(CudaTest, a_sequence_is_one_graph_and_runs_as_often_as_asked) {
  CudaBackend cuda = backend();
  Resident arrays(cuda, 100);
  const auto executable = prepared(cuda, xor_, 0);
  const std::shared_ptr<run::Recording> plan = executable->plan(arrays.views, {2, 1, 1});
  driver_.forget_calls();
  const auto sequence = joined(cuda, {{plan, arrays.views}, {plan, arrays.views}});
  sequence.submit(700, {});
  EXPECT_TRUE(arrays.right());
  EXPECT_EQ(driver_.calls("cuLaunchKernel"), 2) << "when it was made";
  EXPECT_EQ(driver_.calls("cuGraphLaunch"), 700);
  // A single launch takes no graph, and neither does what a profile shows call by call.
  joined(cuda, {{plan, arrays.views}}).submit(3, {});
  EXPECT_EQ(driver_.calls("cuLaunchKernel"), 5);
  const auto profile = run::Profile::begin(100);
  sequence.submit(1, {});
  profile->end({});
  EXPECT_EQ(driver_.calls("cuLaunchKernel"), 7);
  EXPECT_EQ(driver_.calls("cuGraphLaunch"), 700);
}

// For each call of a graph, the calls that come right before it.
using Before = std::vector<std::vector<std::size_t>>;

TEST_F(CudaTest, calls_of_a_graph_that_share_nothing_run_at_once_and_others_in_their_order) {
  CudaBackend cuda = backend();
  std::vector<Resident> arrays;
  for (int k = 0; k < 6; ++k) arrays.emplace_back(cuda, 100);
  const std::shared_ptr<run::Recording> plan = prepared(cuda, xor_, 0)->plan(arrays[0].views, {2, 1, 1});
  const auto graph_of = [&](const std::vector<std::vector<StorageView>>& calls) {
    std::vector<run::Step> steps;
    for (const auto& views : calls) steps.push_back({plan, views});
    joined(cuda, std::move(steps)).submit(1, {});
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
    const auto executable = prepared(cuda, program, 0);
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
    const auto sequence = joined(cuda, std::move(steps));
    const Before graph = driver_.last_graph();
    for (std::size_t node = 1; node < graph.size(); ++node) wide += graph[node] != std::vector<std::size_t>{node - 1};
    for (int times = 0; times < 3; ++times) {
      sequence.submit(1, {});
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

TEST_F(CudaTest, a_sequence_with_grids_from_data_is_one_graph) {
  CudaBackend cuda = backend();
  const auto executable = prepared(cuda, xor_, 0);
  Resident first(cuda, 640), second(cuda, 640);
  const auto counts = cuda.allocate(0, 12, true);
  std::vector<run::Step> steps;
  for (const Resident* const arrays : {&first, &second}) {
    std::vector<StorageView> views = arrays->views;
    views.push_back({counts.get(), 0, 12, 3, StorageView::Role::Invocations});
    steps.push_back({executable->plan(views, {10, 1, 1}), views});
  }
  const auto sequence = joined(cuda, std::move(steps));
  // The counts are read when the graph runs.
  const std::array<std::uint32_t, 3> words = {640, 1, 1};
  counts->write(0, std::as_bytes(std::span(words)), {});
  sequence.submit(1, {});
  EXPECT_TRUE(first.right());
  EXPECT_TRUE(second.right());
  EXPECT_EQ(driver_.calls("cuGraphLaunch"), 1);
}

// A sequence with a graph that owns memory of the device, for the counts of its grids.
struct WithGraph {
  std::vector<std::unique_ptr<run::Storage>> storages;
  run::JoinedSteps sequence;
  WithGraph(CudaBackend& cuda, const Prepared& executable) {
    std::vector<StorageView> views;
    for (int k = 0; k < 3; ++k) {
      storages.push_back(cuda.allocate(0, 4 * 640, true));
      views.push_back({storages.back().get(), 0, 4 * 640, 640});
    }
    storages.push_back(cuda.allocate(0, 12, true));
    views.push_back({storages.back().get(), 0, 12, 3, StorageView::Role::Invocations});
    const std::shared_ptr<run::Recording> plan = executable.plan(views, {10, 1, 1});
    sequence = joined(cuda, {{plan, views}, {plan, views}});
  }
};

TEST_F(CudaTest, a_graph_that_is_destroyed_while_the_device_works_on_it_leaves_nothing_behind) {
  {
    CudaBackend cuda = backend();
    WithGraph arrays(cuda, *prepared(cuda, xor_, 0));
    driver_.hold();
    arrays.sequence.submit(2, {});
    arrays.sequence.recording.reset();
    driver_.release();
  }
  EXPECT_GT(driver_.calls("cuGraphExecDestroy"), 0);
  EXPECT_EQ(driver_.leaks(), std::vector<std::string>());
}

TEST_F(CudaTest, a_graph_of_a_lost_device_gives_its_memory_back_before_the_pool_goes) {
  CudaBackend cuda = backend({.submission_thread = false});
  const auto executable = prepared(cuda, xor_, 0);
  {
    WithGraph arrays(cuda, *executable);
    driver_.hold();
    arrays.sequence.submit(1, {});
    driver_.fail("cuGraphLaunch", 1, run::cuda::CUDA_ERROR_ILLEGAL_ADDRESS);
    EXPECT_THROW(arrays.sequence.submit(1, {}), DeviceLostError);
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
    WithGraph arrays(cuda, *prepared(cuda, xor_, 0));
    driver_.hold();
    arrays.sequence.submit(1, {});
  }
  EXPECT_EQ(driver_.calls("cuDevicePrimaryCtxRelease"), 0);
  EXPECT_EQ(driver_.calls("cuStreamDestroy"), 1) << "that of the capture";
}

}  // namespace
}  // namespace vyre::test
