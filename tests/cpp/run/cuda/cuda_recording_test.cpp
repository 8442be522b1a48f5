// Recordings on a CUDA device keep graphs of arrays that come again, with other words each time.
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "run/cuda/cuda_fixture.hpp"
#include "vyre/run/recording.hpp"

namespace vyre::test {
namespace {

using namespace sample;

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

}  // namespace
}  // namespace vyre::test
