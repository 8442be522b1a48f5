// Eight threads with one program, different programs, one device and several, in every way to call: the bytes are those of one thread.
//
// For a second; VYRE_THREADS_SECONDS says otherwise (.ci/sanitize: a minute under ThreadSanitizer).
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "support/places.hpp"
#include "support/prepared.hpp"
#include "support/programs/programs.hpp"
#include "support/run_program.hpp"
#include "vyre/ir/ops.hpp"
#include "vyre/run/storage.hpp"

namespace vyre::test {
namespace {

using namespace sample;
using run::StorageView;

constexpr std::uint32_t kGroup = 64, kGroups = 5, kWords = kGroup * kGroups;

// What a program makes of `data`, given `a`: computed here, by a loop.
struct Known {
  validate::ValidProgram program;
  std::function<void(const Words& a, Words& data)> on_host;
};

const std::vector<Known>& known() {
  static const std::vector<Known>& all = *new std::vector<Known>{
      {valid(
           Sample().in("a").out("data").size(kGroup).add(store("data", gid(0), load("data", gid(0)) * u32(3) + load("a", gid(0)))).make()),
       [](const Words& a, Words& data) {
         for (std::uint32_t k = 0; k < kWords; ++k) data[k] = data[k] * 3 + a[k];
       }},
      {valid(Sample()
                 .in("a")
                 .out("data")
                 .shared("tile", kGroup)
                 .size(kGroup)
                 .add(store("tile", lid(0), load("data", gid(0)) ^ load("a", gid(0))))
                 .add(barrier())
                 .add(store("data", gid(0), load("tile", u32(kGroup - 1) - lid(0))))
                 .make()),
       [](const Words& a, Words& data) {
         const Words before = data;
         for (std::uint32_t k = 0; k < kWords; ++k) {
           const std::uint32_t from = k / kGroup * kGroup + kGroup - 1 - k % kGroup;
           data[k] = before[from] ^ a[from];
         }
       }},
      {valid(Sample()
                 .in("a")
                 .out("data")
                 .size(kGroup)
                 .add(let("x", load("data", gid(0))))
                 .add(loop("k", u32(0), u32(20), {assign("x", var("x") * u32(5) + load("a", gid(0)))}))
                 .add(store("data", gid(0), var("x")))
                 .make()),
       [](const Words& a, Words& data) {
         for (int round = 0; round < 20; ++round) {
           for (std::uint32_t k = 0; k < kWords; ++k) data[k] = data[k] * 5 + a[k];
         }
       }},
  };
  return all;
}

const validate::ValidProgram& counter() {
  static const auto& program = *new validate::ValidProgram(
      valid(Sample().out("count").size(kGroup).add(let("old", atomic(AtomicOp::Add, "count", u32(0), u32(1)))).make()));
  return program;
}

// As many rounds as a Uniform buffer says.
const validate::ValidProgram& rounds_program() {
  static const auto& program =
      *new validate::ValidProgram(valid(Sample()
                                            .out("data")
                                            .uniform("rounds")
                                            .size(kGroup)
                                            .add(let("x", load("data", gid(0))))
                                            .add(loop("k", u32(0), load("rounds", u32(0)), {assign("x", var("x") * u32(3) + var("k"))}))
                                            .add(store("data", gid(0), var("x")))
                                            .make()));
  return program;
}

Words after_rounds(Words data, std::uint32_t rounds) {
  for (std::uint32_t& word : data) {
    for (std::uint32_t k = 0; k < rounds; ++k) word = word * 3 + k;
  }
  return data;
}

// What the device may write there; the host writes others.
constexpr std::uint32_t kDeviceRounds = 6, kHostRounds[] = {3, 5};

const validate::ValidProgram& rounds_writer() {
  static const auto& program =
      *new validate::ValidProgram(valid(Sample().out("rounds").add(store("rounds", u32(0), u32(kDeviceRounds))).make()));
  return program;
}

// A device, what is prepared for it, a counter that all threads add to, and a number of rounds that all threads write.
struct Shared : Place {
  explicit Shared(Place place) : Place(std::move(place)) {
    for (const Known& each : known()) executables.push_back(prepared(*backend, each.program, device));
    counting = prepared(*backend, counter(), device);
    count = backend->allocate(device, 4, true);
    const std::vector<StorageView> views = {{count.get(), 0, 4, 1}};
    plan = counting->plan(views, {1, 1, 1});
    sequence = joined(*backend, {{plan, views}, {plan, views}, {plan, views}});

    run::Optimize at_once;
    at_once.everywhere = true;
    turning = prepared(*backend, rounds_program(), device, at_once);
    writing = prepared(*backend, rounds_writer(), device);
    rounds = backend->allocate(device, 4, false);
    write_rounds(kHostRounds[0]);
    const std::vector<StorageView> written = {{rounds.get(), 0, 4, 1}};
    write = writing->plan(written, {1, 1, 1});
  }
  void write_rounds(std::uint32_t value) const { rounds->write(0, std::as_bytes(std::span(&value, 1)), {}); }
  // That many rounds over `data`, on the device.
  Words turned(Words data) const {
    const auto storage = backend->allocate(device, 4 * kWords, false);
    storage->write(0, std::as_bytes(std::span(data)), {});
    const std::vector<StorageView> views = {{storage.get(), 0, 4 * kWords, kWords}, {rounds.get(), 0, 4, 1}};
    turning->plan(views, {kGroups, 1, 1})->submit(views, {}, {});
    storage->read(0, std::as_writable_bytes(std::span(data)), {});
    return data;
  }

  std::vector<std::unique_ptr<Prepared>> executables;
  std::unique_ptr<Prepared> counting, turning, writing;
  std::unique_ptr<run::Storage> count, rounds;
  std::shared_ptr<run::Recording> plan, write;
  run::JoinedSteps sequence;
  std::atomic<std::uint32_t> counted = 0;
};

// Not destroyed: devices are opened once a process.
std::vector<std::unique_ptr<Shared>>& shared_places() {
  static auto& all = *[] {
    auto* list = new std::vector<std::unique_ptr<Shared>>;
    const auto add = [&](std::vector<Place> places) {
      for (Place& place : places) list->push_back(std::make_unique<Shared>(std::move(place)));
    };
    add(host_places());
    add(cuda_places("", {.submission_thread = false}));
    add(cuda_places(", submitted beside", {.submission_thread = true}));
#if VYRE_HAS_SPIRV
    add(vulkan_places("", {.submission_thread = false}));
    add(vulkan_places(", submitted beside", {.submission_thread = true}));
#endif
    return list;
  }();
  return all;
}

double seconds() {
  const char* given = std::getenv("VYRE_THREADS_SECONDS");
  return given == nullptr ? 1.0 : std::atof(given);
}

class Worker {
 public:
  explicit Worker(std::uint32_t seed) : random_(seed) {}

  // One call, or some that belong together; what is wrong with their bytes.
  std::string turn() {
    Shared& place = *shared_places()[random_() % shared_places().size()];
    const std::size_t which = random_() % known().size();
    const Known& each = known()[which];
    Words a(kWords), data(kWords), expected;
    for (std::uint32_t& word : a) word = random_();
    for (std::uint32_t& word : data) word = random_();
    expected = data;
    std::string way;
    switch (random_() % 8) {
      case 0: {
        way = "a call with host arrays";
        call(*place.executables[which], a, data);
        each.on_host(a, expected);
        break;
      }
      case 1: {
        way = "a program of its own";
        const std::uint32_t factor = random_() % 16;
        const auto executable =
            prepared(*place.backend,
                     valid(Sample().in("a").out("data").size(kGroup).add(store("data", gid(0), load("a", gid(0)) * u32(factor))).make()),
                     place.device);
        call(*executable, a, data);
        for (std::uint32_t k = 0; k < kWords; ++k) expected[k] = a[k] * factor;
        break;
      }
      case 2:
      case 3: {
        way = "calls with arrays of its own";
        const auto [storages, views] = resident(place, a, data);
        const auto plan = place.executables[which]->plan(views, {kGroups, 1, 1});
        const std::uint32_t times = 1 + random_() % 9;
        for (std::uint32_t k = 0; k < times; ++k) plan->submit(views, {}, {});
        storages[1]->read(0, std::as_writable_bytes(std::span(data)), {});
        for (std::uint32_t k = 0; k < times; ++k) each.on_host(a, expected);
        break;
      }
      case 4: {
        way = "a sequence of its own";
        const auto [storages, views] = resident(place, a, data);
        std::vector<run::Step> steps;
        for (const auto& executable : place.executables) steps.push_back({executable->plan(views, {kGroups, 1, 1}), views});
        joined(*place.backend, std::move(steps)).submit(2, {});
        storages[1]->read(0, std::as_writable_bytes(std::span(data)), {});
        for (int k = 0; k < 2; ++k) {
          for (const Known& one : known()) one.on_host(a, expected);
        }
        break;
      }
      case 5: {
        // What others write there meanwhile is one of these, and stays whole.
        if (random_() % 3 == 0) {
          place.write->submit(std::vector<StorageView>{{place.rounds.get(), 0, 4, 1}}, {}, {});
        } else {
          place.write_rounds(kHostRounds[random_() % std::size(kHostRounds)]);
        }
        [[fallthrough]];
      }
      case 6: {
        way = "rounds that all threads write";
        const Words got = place.turned(data);
        for (const std::uint32_t rounds : {kDeviceRounds, kHostRounds[0], kHostRounds[1]}) {
          if (got == after_rounds(data, rounds)) return {};
        }
        return way + " gave other bytes on " + place.name;
      }
      default: {
        // What others add meanwhile is only known at the end.
        place.plan->submit(std::vector<StorageView>{{place.count.get(), 0, 4, 1}}, {}, {});
        place.sequence.submit(2, {});
        place.counted += kGroup * (1 + 3 * 2);
        return {};
      }
    }
    return data == expected ? std::string() : way + " gave other bytes on " + place.name;
  }

 private:
  static void call(run::Executable& executable, Words& a, Words& data) {
    const std::vector<run::BufferView> buffers = {{std::as_writable_bytes(std::span(a)), kWords},
                                                  {std::as_writable_bytes(std::span(data)), kWords}};
    executable.run(buffers, {kGroups, 1, 1}, {});
  }

  static std::pair<std::vector<std::unique_ptr<run::Storage>>, std::vector<StorageView>> resident(Shared& place, const Words& a,
                                                                                                  const Words& data) {
    std::vector<std::unique_ptr<run::Storage>> storages;
    std::vector<StorageView> views;
    for (const Words* words : {&a, &data}) {
      storages.push_back(place.backend->allocate(place.device, 4 * kWords, false));
      storages.back()->write(0, std::as_bytes(std::span(*words)), {});
      views.push_back({storages.back().get(), 0, 4 * kWords, kWords});
    }
    return {std::move(storages), std::move(views)};
  }

  std::mt19937 random_;
};

TEST(ThreadSafety, eight_threads_get_the_bytes_of_one) {
  shared_places();
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds());
  std::atomic<bool> stopped = false;
  std::atomic<std::uint64_t> turns = 0;
  std::vector<std::string> wrong(8);
  std::vector<std::thread> threads;
  for (std::uint32_t seed = 0; seed < wrong.size(); ++seed) {
    threads.emplace_back([&, seed] {
      Worker worker(seed);
      try {
        // Each at least some, however short the time.
        for (int turn = 0; !stopped && (turn < 20 || std::chrono::steady_clock::now() < end); ++turn, ++turns) {
          if (wrong[seed] = worker.turn(); !wrong[seed].empty()) stopped = true;
        }
      } catch (const std::exception& error) {
        wrong[seed] = error.what();
        stopped = true;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::size_t seed = 0; seed < wrong.size(); ++seed) EXPECT_EQ(wrong[seed], "") << "thread with seed " << seed;
  for (const auto& place : shared_places()) {
    Words got(1);
    place->count->read(0, std::as_writable_bytes(std::span(got)), {});
    EXPECT_EQ(got[0], place->counted) << place->name;
    // Whichever thread wrote last, a call uses the word that the array holds.
    place->rounds->read(0, std::as_writable_bytes(std::span(got)), {});
    const Words data(kWords, 7);
    EXPECT_EQ(place->turned(data), after_rounds(data, got[0])) << got[0] << " rounds on " << place->name;
  }
  std::printf("%llu turns of 8 threads on %zu devices\n", static_cast<unsigned long long>(turns.load()), shared_places().size());
}

}  // namespace
}  // namespace vyre::test
