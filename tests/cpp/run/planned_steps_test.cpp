// Flat steps with scratch memory, zeroing, copies and late numbers, on every backend and device here.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "support/errors.hpp"
#include "support/places.hpp"
#include "support/programs/programs.hpp"
#include "support/run_program.hpp"
#include "vyre/base/error.hpp"
#include "vyre/run/procedures/flat_steps.hpp"

namespace vyre::test {
namespace {

using namespace sample;
using run::FlatSteps;
using run::Number;
using run::PlannedSteps;
using run::Storage;
using run::StorageView;
using Kind = FlatSteps::Array::Kind;

using Bytes = std::vector<std::uint8_t>;

run::ProfiledProgram program(const ir::Program& given) { return std::make_shared<const validate::ValidProgram>(valid(given)); }

std::unique_ptr<PlannedSteps> plan(const Place& place, const FlatSteps& steps) {
  const auto prepare = [&](const run::ProfiledProgram& each) {
    return std::shared_ptr<run::Executable>(place.backend->prepare(*each, place.device));
  };
  return std::make_unique<PlannedSteps>(steps, *place.backend, place.device, prepare, run::RunOptions());
}

struct Memory {
  Memory(const Place& place, const Bytes& bytes, std::uint64_t before = 0)
      : storage(place.backend->allocate(place.device, before + bytes.size(), true)), view{storage.get(), before, bytes.size(), 0} {
    storage->write(before, std::as_bytes(std::span(bytes)), {});
  }
  Bytes read() const {
    Bytes bytes(view.bytes);
    storage->read(view.offset, std::as_writable_bytes(std::span(bytes)), {});
    return bytes;
  }
  std::shared_ptr<Storage> storage;
  StorageView view;
};

Bytes counted_bytes(std::size_t count, std::uint32_t seed) {
  std::mt19937 random(seed);
  Bytes bytes(count);
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
  return bytes;
}

TEST(PlannedSteps, zeroes_and_copies_parts_of_any_size) {
  at_every_place([](const Place& place) {
    for (std::uint32_t seed = 1; seed <= 30; ++seed) {
      SCOPED_TRACE("seed " + std::to_string(seed));
      std::mt19937 random(seed);
      const std::uint64_t unit = std::array<std::uint64_t, 4>{1, 2, 4, 16}[seed % 4];
      const auto drawn = [&](std::uint64_t most) { return random() % (most / unit + 1) * unit; };
      const std::uint64_t total = 1600;
      const std::uint64_t bytes = drawn(700), from = drawn(total - bytes), to = drawn(total - bytes);
      const std::uint64_t zeroed = drawn(700), first = drawn(total - zeroed);
      FlatSteps steps;
      steps.arrays = {{Kind::Given, "x", total}, {Kind::Given, "y", total}, {Kind::Scratch, "s", total}};
      steps.steps = {FlatSteps::Copy{{0, 0, total}, {2, 0, total}}, FlatSteps::Zero{{1, first, zeroed}},
                     FlatSteps::Copy{{2, from, bytes}, {1, to, bytes}}};
      const Bytes given = counted_bytes(total, seed), before = counted_bytes(total, seed + 1000);
      const Memory x(place, given), y(place, before);
      const std::array<StorageView, 2> views = {x.view, y.view};
      plan(place, steps)->submit(views, {}, {});
      Bytes expected = before;
      std::fill_n(expected.begin() + static_cast<std::ptrdiff_t>(first), zeroed, std::uint8_t{0});
      std::copy_n(given.begin() + static_cast<std::ptrdiff_t>(from), bytes, expected.begin() + static_cast<std::ptrdiff_t>(to));
      ASSERT_EQ(y.read(), expected);
      ASSERT_EQ(x.read(), given);
    }
  });
}

Bytes bytes_of(const Words& words) {
  Bytes bytes(4 * words.size());
  std::memcpy(bytes.data(), words.data(), bytes.size());
  return bytes;
}

// The given words, multiplied by a known number and then added a late one, eight times: each time from one scratch array into another.
TEST(PlannedSteps, pass_known_and_late_numbers_and_share_scratch_memory) {
  constexpr std::uint64_t kWords = 3000;
  const run::ProfiledProgram step = program(Sample()
                                                .in("a")
                                                .uniform("times")
                                                .uniform("plus")
                                                .out("b")
                                                .size(64)
                                                .add(store("b", gid(0), load("a", gid(0)) * load("times", u32(0)) + load("plus", u32(0))))
                                                .make());
  FlatSteps steps;
  steps.programs = {step};
  steps.places = {{"the step", ""}};
  steps.late_numbers = 2;
  steps.arrays = {{Kind::Given, "x", 4 * kWords}, {Kind::Given, "y", 4 * kWords}};
  for (std::uint32_t k = 0; k < 8; ++k) {
    if (k < 7) steps.arrays.push_back({Kind::Scratch, "s", 4 * kWords});
    const FlatSteps::Part from = {k == 0 ? 0 : k + 1, 0, 4 * kWords}, to = {k == 7 ? 1 : k + 2, 0, 4 * kWords};
    const FlatSteps::Words known = {Number{k + 2}}, late = {Number{0, k % 2}};
    steps.steps.push_back(FlatSteps::Dispatch{0, {from, known, late, to}, {(kWords + 63) / 64, 1, 1}});
  }
  at_every_place([&](const Place& place) {
    const auto planned = plan(place, steps);
    EXPECT_LE(planned->kept_bytes(), 2 * 12032 + 8 * 256);
    Words given(kWords);
    for (std::uint32_t k = 0; k < kWords; ++k) given[k] = k * 77;
    for (const std::array<std::uint64_t, 2>& late : {std::array<std::uint64_t, 2>{5, 9}, {(std::uint64_t{1} << 32) + 6, 1}, {5, 9}}) {
      const Memory x(place, bytes_of(given)), y(place, Bytes(4 * kWords));
      const std::array<StorageView, 2> views = {x.view, y.view};
      planned->submit(views, late, {});
      Words expected = given;
      for (std::uint32_t k = 0; k < 8; ++k) {
        for (std::uint32_t& word : expected) word = word * (k + 2) + static_cast<std::uint32_t>(late[k % 2]);
      }
      EXPECT_EQ(y.read(), bytes_of(expected));
    }
  });
}

TEST(PlannedSteps, that_do_nothing_are_submitted_too) {
  FlatSteps steps;
  steps.arrays = {{Kind::Given, "x", 0}, {Kind::Scratch, "s", 64}};
  steps.steps = {FlatSteps::Zero{{0, 0, 0}}};
  at_every_place([&](const Place& place) {
    const Memory x(place, {});
    const std::array<StorageView, 1> views = {x.view};
    const auto planned = plan(place, steps);
    planned->submit(views, {}, {});
    EXPECT_FALSE(planned->step(views, {}).has_value());
    EXPECT_EQ(planned->dispatches(), 0u);
  });
}

TEST(PlannedSteps, name_the_step_whose_arrays_do_not_fit) {
  const Place place = host_places()[1];
  FlatSteps steps;
  steps.programs = {program(Sample().in("a").out("b").size(64).add(store("b", gid(0), load("a", gid(0)))).make())};
  steps.places = {
      {"first", ""}, {"dispatch `copy` in procedure `twice`", " at steps[1]"}, {"invocation of `twice` in procedure `p`", " at steps[3]"}};
  steps.frames = {{}, {0, 3, 2}};
  steps.origins = {{1, 1}};
  steps.arrays = {{Kind::Scratch, "s", 4096}};
  steps.steps = {FlatSteps::Dispatch{0, {FlatSteps::Part{0, 0, 1024}, FlatSteps::Part{0, 512, 1024}}, {1, 1, 1}, {}, {}, 1}};
  EXPECT_EQ(message_of<BindingError>([&] { plan(place, steps); }),
            "dispatch `copy` in procedure `twice` at steps[1], in the invocation of `twice` in procedure `p` at steps[3]: arrays "
            "`a` and `b` overlap in memory, and one of them is written. Fix: give each its own array, for instance a copy.");
}

}  // namespace
}  // namespace vyre::test
