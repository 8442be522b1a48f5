// Tests that programs are compiled for the words in their Uniform buffers: for which words and when, and that a call always uses the words
// that were written last.
#include "vyre/run/specialization.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "support/places.hpp"
#include "support/prepared.hpp"
#include "support/programs/programs.hpp"
#include "support/run_program.hpp"
#include "support/words.hpp"
#include "vyre/ir/ops.hpp"
#include "vyre/lower/lower.hpp"
#include "vyre/run/cpu/cpu.hpp"
#include "vyre/run/profile.hpp"
#include "vyre/run/storage.hpp"

namespace vyre::test {
namespace {

using namespace sample;
using run::BufferView;
using run::Grid;
using run::Optimize;
using run::Specialization;
using run::Storage;
using run::StorageView;
using Choice = std::optional<std::size_t>;

constexpr std::uint32_t kGroup = 64, kGroups = 13, kWords = kGroup * kGroups;

// As many rounds over `data` as the first word of `rounds` says; `flag` turns the result round.
validate::ValidProgram rounds_program() {
  return valid(Sample()
                   .out("data")
                   .uniform("rounds")
                   .uniform("flag", DataType::Bool)
                   .size(kGroup)
                   .add(let("x", load("data", gid(0))))
                   .add(loop("k", u32(0), load("rounds", u32(0)), {assign("x", var("x") * u32(3) + var("k"))}))
                   .add(if_(load("flag", u32(0)), {assign("x", un(UnOp::BitNot, var("x")))}))
                   .add(store("data", gid(0), var("x")))
                   .make());
}

Words after(Words data, std::uint32_t rounds, bool flag = false) {
  for (std::uint32_t& word : data) {
    for (std::uint32_t k = 0; k < rounds; ++k) word = word * 3 + k;
    if (flag) word = ~word;
  }
  return data;
}

Optimize at_once() {
  Optimize options;
  options.everywhere = true;
  return options;
}

Words read(Storage& storage, std::size_t count = kWords) {
  Words words(count);
  storage.read(0, std::as_writable_bytes(std::span(words)), {});
  return words;
}

// How often something was compiled for words meanwhile.
template <class Work>
std::uint64_t specialized(const Work& work) {
  const auto profile = run::Profile::begin(1);
  work();
  profile->end({});
  for (const run::ProfileReport::Row& row : profile->report().rows) {
    if (row.name == "specialize") return row.calls;
  }
  return 0;
}

TEST(Specialization, looks_at_the_words_that_decide) {
  const validate::ValidProgram program =
      valid(Sample()
                .uniform("a", DataType::Vec4U32)
                .uniform("signed", DataType::I32)
                .uniform("flag", DataType::Bool)
                .uniform("wide", DataType::U64)
                .out("out")
                .add(loop("k", u32(0), lane(load("a", u32(1)), 2), {store("out", var("k"), u32(1))}))
                .add(loop("k", u32(0), cast(DataType::U32, load("signed", u32(1))), {store("out", var("k"), u32(1))}))
                .add(if_(load("flag", u32(2)), {store("out", u32(0), u32(2))}))
                .add(if_(lane(load("wide", u32(9)), 1), {store("out", u32(0), u32(3))}))
                .add(store("out", u32(0), lane(load("a", u32(0)), 1)))
                .make());
  const Specialization specialization(program, {});
  Words a = {0, 1, 2, 3, 4, 5, 6, 7}, signeds = {8, 9}, flag = {0, 0, 9}, wide(19, 3), out(1);
  // Of the last element of `wide` there is half.
  const std::vector<BufferView> buffers = {view(a), view(signeds), view(flag), {std::as_writable_bytes(std::span(wide)), 9}, view(out)};
  EXPECT_EQ(specialization.words(buffers), (Words{4, 5, 6, 7, 9, 1, 0, 0})) << "zeros for elements that are not there";
}

TEST(Specialization, is_of_programs_whose_words_decide_and_may_be_switched_off) {
  EXPECT_EQ(Specialization(rounds_program(), {}).parts().size(), 2u);
  Optimize off;
  off.specialization = false;
  EXPECT_TRUE(Specialization(rounds_program(), off).parts().empty());
  const validate::ValidProgram plain = valid(Sample().uniform("u").out("data").add(store("data", gid(0), load("u", u32(0)))).make());
  EXPECT_TRUE(Specialization(plain, {}).parts().empty());
}

TEST(Specialization, has_a_program_that_needs_no_more_preparing) {
  const validate::ValidProgram given =
      valid(Sample().uniform("u").out("data").add(store("data", gid(0), load("u", u32(2) + u32(3)))).make());
  const Specialization specialization(given, {});
  const validate::ValidProgram& program = specialization.program();
  EXPECT_NE(program.program().hash(), given.program().hash());
  EXPECT_EQ(&lower::prepare(program, {}).program(), &program.program()) << "programs that are not changed are shared";
  Optimize off;
  off.specialization = false;
  EXPECT_EQ(&Specialization(given, off).program().program(), &given.program());
}

TEST(Specialization, chooses_words_that_came_four_times_with_enough_invocations) {
  Specialization specialization(rounds_program(), {});
  const Words words = {5, 1};
  // 64 * 10 invocations a call.
  for (int call = 0; call < 6; ++call) EXPECT_EQ(specialization.choose(words, {10, 1, 1}, 1, 4200), std::nullopt) << call;
  EXPECT_EQ(specialization.choose(words, {10, 1, 1}, 1, 4200), Choice(0));
  EXPECT_EQ(specialization.choose(words, {0, 1, 1}, 1, 4200), Choice(0)) << "from then on";
  const Words others = {6, 1};
  for (int call = 0; call < 3; ++call) EXPECT_EQ(specialization.choose(others, {~0u, ~0u, ~0u}, 1, 4200), std::nullopt) << call;
  EXPECT_EQ(specialization.choose(others, {1, 1, 1}, 1, 4200), Choice(1));
  EXPECT_EQ(specialization.choose({7, 1}, {100, 1, 1}, 1u << 30, 4200), Choice(2)) << "calls that come together";
  EXPECT_EQ(specialization.choose({8, 1}, {0, 1, 1}, ~0ull, 1), std::nullopt) << "calls of nothing";
}

TEST(Specialization, chooses_four_and_no_more) {
  Specialization specialization(rounds_program(), at_once());
  for (std::uint32_t rounds = 0; rounds < 4; ++rounds) EXPECT_EQ(specialization.choose({rounds, 0}, {1, 1, 1}, 1, 1), Choice(rounds));
  EXPECT_EQ(specialization.choose({4, 0}, {1, 1, 1}, 1, 1), std::nullopt);
  EXPECT_EQ(specialization.choose({2, 0}, {1, 1, 1}, 1, 1), Choice(2));
}

TEST(Specialization, forgets_words_that_came_long_ago) {
  Specialization specialization(rounds_program(), {});
  for (int call = 0; call < 3; ++call) EXPECT_EQ(specialization.choose({99, 0}, {1, 1, 1}, 1, 1), std::nullopt);
  for (std::uint32_t other = 0; other < 8; ++other) EXPECT_EQ(specialization.choose({other, 0}, {1, 1, 1}, 1, 1), std::nullopt);
  EXPECT_EQ(specialization.choose({99, 0}, {1, 1, 1}, 1, 1), std::nullopt) << "counted anew";
  EXPECT_EQ(specialization.choose({7, 0}, {1, 1, 1}, 3, 1), Choice(0)) << "and those that came since are not";
}

TEST(Specialization, calls_with_host_arrays_give_the_bytes_of_their_words) {
  at_every_place([](const Place& place) {
    const auto executable = prepared(*place.backend, rounds_program(), place.device, at_once());
    const Words data = counted(kWords, 5);
    const auto check = [&](std::uint32_t rounds, std::uint32_t flag) {
      Words result = data, first = {rounds}, second = {flag};
      const std::vector<BufferView> buffers = {view(result), view(first), view(second)};
      executable->run(buffers, {kGroups, 1, 1}, {});
      EXPECT_EQ(result, after(data, rounds, flag != 0)) << rounds << ' ' << flag;
    };
    const std::uint64_t count = specialized([&] {
      for (const std::uint32_t rounds : {3u, 3u, 0u, 1u, 40u, 7u, 3u, 40u}) check(rounds, rounds % 2);
      // Any word but zero is true: these are the words of 3 and 1 once more.
      check(3, 77);
    });
    EXPECT_EQ(count, place.name == "reference" ? 0u : 4u);
    Words result = data, none, flag = {0};
    const std::vector<BufferView> buffers = {view(result), view(none), view(flag)};
    executable->run(buffers, {kGroups, 1, 1}, {});
    EXPECT_EQ(result, data) << "an empty buffer has zeros";
  });
}

// Arrays of one call of rounds_program(), all on the device.
struct Resident {
  explicit Resident(const Place& where, const Optimize& options = at_once(), std::uint32_t groups = kGroups)
      : place(where),
        words(groups * kGroup),
        executable(prepared(*place.backend, rounds_program(), place.device, options)),
        data(place.backend->allocate(place.device, 4 * words, false)),
        rounds(place.backend->allocate(place.device, 4 * 4, true)),
        flag(place.backend->allocate(place.device, 4, true)) {
    data->write(0, bytes_of(counted(words, 5)), {});
    plan = executable->plan(views(), {groups, 1, 1});
  }
  std::vector<StorageView> views() const {
    return {{data.get(), 0, 4 * std::uint64_t{words}, words}, {rounds.get(), 4, 4, 1}, {flag.get(), 0, 4, 1}};
  }
  void write_rounds(std::uint32_t value) const { rounds->write(4, std::as_bytes(std::span(&value, 1)), {}); }
  void call() const { plan->submit(views(), {}, {}); }

  const Place& place;
  const std::uint32_t words;
  std::unique_ptr<Prepared> executable;
  std::unique_ptr<Storage> data, rounds, flag;
  std::shared_ptr<run::Recording> plan;
};

// The reference runs programs as they are, and CUDA compiles for the words of host arrays alone.
bool specializes_resident_calls(const Place& place) { return place.backend->name() != "reference" && place.backend->name() != "cuda"; }

TEST(Specialization, resident_calls_see_what_the_host_wrote_last) {
  at_every_place([](const Place& place) {
    const Resident resident(place);
    Words expected = counted(kWords, 5);
    const std::uint64_t count = specialized([&] {
      // An array that was made of zeros has known words too.
      resident.call();
      for (const std::uint32_t rounds : {3u, 3u, 9u, 1u, 3u, 20u, 21u, 9u}) {
        resident.write_rounds(rounds);
        resident.call();
        resident.call();
        expected = after(after(expected, rounds), rounds);
      }
      // Beside the words of the call.
      resident.rounds->write(0, bytes_of({5}), {});
      resident.call();
      expected = after(expected, 9);
      resident.rounds->write(0, bytes_of({6, 2, 6, 6}), {});
      resident.call();
      expected = after(expected, 2);
    });
    EXPECT_EQ(read(*resident.data), expected);
    const bool several = place.name.find("many submissions") != std::string::npos;
    EXPECT_EQ(count, !specializes_resident_calls(place) || several ? 0u : 4u) << "calls of several submissions are left as they are";
  });
}

TEST(Specialization, resident_calls_see_what_calls_wrote) {
  at_every_place([](const Place& place) {
    const Resident resident(place);
    const auto writer = prepared(
        *place.backend, valid(Sample().in("from").out("rounds").add(store("rounds", u32(1), load("from", u32(0)))).make()), place.device);
    const auto from = place.backend->allocate(place.device, 4, true);
    const std::vector<StorageView> written = {{from.get(), 0, 4, 1}, {resident.rounds.get(), 0, 16, 4}};
    const auto write = writer->plan(written, {1, 1, 1});
    Words expected = counted(kWords, 5);
    for (const std::uint32_t rounds : {4u, 4u, 6u, 1u, 4u, 0u}) {
      resident.write_rounds(2);
      resident.call();
      from->write(0, bytes_of({rounds}), {});
      write->submit(written, {}, {});
      resident.call();
      expected = after(after(expected, 2), rounds);
      // The host writes a part of the words, and does not know the others.
      resident.rounds->write(0, bytes_of({7}), {});
      resident.call();
      expected = after(expected, rounds);
    }
    EXPECT_EQ(read(*resident.data), expected);
  });
}

TEST(Specialization, sequences_see_what_was_written_before_and_in_them) {
  at_every_place([](const Place& place) {
    const Resident resident(place);
    // Their own words, which nothing of the sequence writes; and `rounds`, to which each turn adds one.
    const Resident fixed(place);
    fixed.write_rounds(3);
    const auto adder = prepared(
        *place.backend, valid(Sample().out("rounds").add(store("rounds", u32(1), load("rounds", u32(1)) + u32(1))).make()), place.device);
    const std::vector<StorageView> added = {{resident.rounds.get(), 0, 16, 4}};
    const std::vector<StorageView> same = {resident.views()[0], fixed.views()[1], fixed.views()[2]};
    const std::shared_ptr<run::Recording> steady = fixed.executable->plan(same, {kGroups, 1, 1});
    const auto sequence =
        joined(*place.backend, {{resident.plan, resident.views()}, {steady, same}, {adder->plan(added, {1, 1, 1}), added}, {steady, same}});
    Words expected = counted(kWords, 5);
    std::uint32_t rounds = 0;
    const auto turns = [&](std::uint32_t times, std::uint32_t steady_rounds) {
      sequence.submit(times, {});
      for (; times > 0; --times) {
        expected = after(after(after(expected, rounds), steady_rounds), steady_rounds);
        ++rounds;
      }
      EXPECT_EQ(read(*resident.data), expected) << rounds << ' ' << steady_rounds;
    };
    const std::uint64_t count = specialized([&] {
      turns(1, 3);
      turns(3, 3);
      fixed.write_rounds(8);
      turns(2, 8);
      fixed.write_rounds(3);
      turns(70, 3);
      resident.write_rounds(rounds = 2);
      turns(1, 3);
      // Known as a whole, and written with each turn.
      resident.rounds->write(0, bytes_of({0, rounds = 1, 0, 0}), {});
      turns(3, 3);
    });
    if (place.backend->name() == "vulkan") {
      const bool several = place.name.find("many submissions") != std::string::npos;
      EXPECT_EQ(count, several ? 0u : 2u) << "3 and 8, once for both calls";
    }
  });
}

TEST(Specialization, comes_once_enough_was_run_with_the_same_words) {
  at_every_place([](const Place& place) {
    if (!specializes_resident_calls(place) || place.name.find("part") != std::string::npos) return;
    // 2^16 invocations a call: 2^20 in all make it worth while on a processor under Vulkan, 2^28 on a GPU, and on cpu 4 calls.
    constexpr std::uint32_t kMany = 1024;
    const Resident resident(place, {}, kMany);
    const bool software = place.name == "cpu" || place.backend->devices()[*place.device].kind == "software gpu";
    const std::uint64_t after_calls = place.name == "cpu" ? 4 : software ? 16 : 4096;
    resident.write_rounds(2);
    EXPECT_EQ(specialized([&] {
                for (std::uint64_t k = 1; k < after_calls; ++k) resident.call();
              }),
              0u);
    EXPECT_EQ(specialized([&] { resident.call(); }), 1u);
    EXPECT_EQ(specialized([&] { resident.call(); }), 0u);
    resident.write_rounds(1);
    const auto sequence = joined(*place.backend, {{resident.plan, resident.views()}, {resident.plan, resident.views()}});
    EXPECT_EQ(specialized([&] { sequence.submit(after_calls / 2, {}); }), 1u);
    Words expected = counted(kMany * kGroup, 5);
    for (std::uint64_t k = 0; k < after_calls + 1; ++k) expected = after(expected, 2);
    for (std::uint64_t k = 0; k < after_calls; ++k) expected = after(expected, 1);
    EXPECT_EQ(read(*resident.data, expected.size()), expected);
  });
}

TEST(Specialization, large_arrays_are_not_looked_into) {
  at_every_place([](const Place& place) {
    if (place.backend->name() != "vulkan") return;
    const auto executable = prepared(*place.backend, rounds_program(), place.device, at_once());
    const auto large = place.backend->allocate(place.device, 8192, false);
    Words words(2048, 3);
    words[0] = 0;
    large->write(0, bytes_of(words), {});
    const auto data = place.backend->allocate(place.device, 4 * kWords, false);
    data->write(0, bytes_of(counted(kWords, 5)), {});
    const std::vector<StorageView> views = {{data.get(), 0, 4 * kWords, kWords}, {large.get(), 4, 4, 1}, {large.get(), 0, 4, 1}};
    EXPECT_EQ(specialized([&] { executable->plan(views, {kGroups, 1, 1})->submit(views, {}, {}); }), 0u);
    EXPECT_EQ(read(*data), after(counted(kWords, 5), 3));
  });
}

TEST(Specialization, random_writes_and_calls_give_the_bytes_of_the_host) {
  constexpr std::uint32_t kSeed = 20;
  at_every_place([&](const Place& place) {
    std::mt19937 random(kSeed);
    const Resident resident(place);
    const auto copier =
        prepared(*place.backend, valid(Sample().in("from").out("to").add(store("to", u32(1), load("from", u32(0)))).make()), place.device);
    const auto flags = prepared(*place.backend,
                                valid(Sample().out("flag").add(store("flag", u32(0), load("flag", u32(0)) ^ u32(1))).make()), place.device);
    const std::vector<StorageView> copied = {{resident.data.get(), 0, 4, 1}, {resident.rounds.get(), 0, 16, 4}};
    const std::vector<StorageView> flag = {{resident.flag.get(), 0, 4, 1}};
    const std::vector<StorageView> bounded = {{resident.data.get(), 0, 4, 1}};
    const auto bound = prepared(
        *place.backend, valid(Sample().out("data").add(store("data", u32(0), bin(BinOp::BitAnd, load("data", u32(0)), u32(3)))).make()),
        place.device);
    const auto bound_plan = bound->plan(bounded, {1, 1, 1}), copy_plan = copier->plan(copied, {1, 1, 1}),
               flag_plan = flags->plan(flag, {1, 1, 1});
    Words expected = counted(kWords, 5);
    std::uint32_t rounds = 0, turned = 0;
    for (int turn = 0; turn < 120; ++turn) {
      switch (random() % 6) {
        case 0:
          resident.write_rounds(rounds = random() % 4);
          break;
        case 1:
          // Few rounds: the first word of data decides how many, once it is small.
          bound_plan->submit(bounded, {}, {});
          copy_plan->submit(copied, {}, {});
          rounds = expected[0] &= 3;
          break;
        case 2:
          flag_plan->submit(flag, {}, {});
          turned ^= 1;
          break;
        case 3:
          resident.flag->write(0, bytes_of({turned = random() % 2}), {});
          break;
        default:
          resident.call();
          expected = after(expected, rounds, turned != 0);
      }
    }
    EXPECT_EQ(read(*resident.data), expected) << "seed " << kSeed;
  });
}

}  // namespace
}  // namespace vyre::test
