// Checked execution against brute force: every access is written down, and all pairs of them are tried by the definition of a race
// (docs/semantics.md, Memory, atomics, barriers). The programs are random and mostly wrong; what they access does not depend on the
// schedule.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "support/check_program.hpp"
#include "support/programs/programs.hpp"
#include "vyre/ir/ops.hpp"
#include "vyre/ir/text/print.hpp"
#include "vyre/run/reference/checker.hpp"
#include "vyre/run/reference/code.hpp"
#include "vyre/run/reference/dispatch.hpp"

namespace vyre::run::reference {
namespace {

using namespace vyre::sample;

struct Event {
  std::uint32_t buffer = 0;
  std::size_t lane = 0;
  Triple workgroup{}, local{};
  std::uint32_t phase = 0;
  AccessKind kind = AccessKind::Read;
  NodeId statement;
  std::uint32_t value = 0;
  bool used = false;  // of a read: the store that takes the value has an effect
};

bool race(const Event& a, const Event& b) {
  if (a.buffer != b.buffer || a.lane != b.lane) return false;
  if (a.kind == b.kind && a.kind != AccessKind::Write) return false;
  if (a.workgroup != b.workgroup) return true;
  return a.local != b.local && a.phase == b.phase;
}

// Writes down every access to memory that can be written. Each load gives its value to the next store of its invocation.
struct Recorder : Unobserved {
  explicit Recorder(const Job& job) : job(job) {}

  void start(std::size_t number, const Group& group) {
    if (number == groups.size()) groups.push_back({&group});
    groups[number].phase = 0;
  }
  void pass_barrier(std::size_t number) { ++groups[number].phase; }
  void enter(std::size_t number, std::uint32_t invocation) {
    now = &groups[number];
    who = local_id(invocation, job.program.workgroup_size());
  }
  void load(const Instruction& i, std::size_t index) {
    for (std::size_t k = index * i.lanes; k < (index + 1) * i.lanes; ++k) put(i, k, AccessKind::Read, now->group->memory(i.b).read(k));
  }
  void store(const Instruction& i, std::size_t index, const std::uint32_t* slots) {
    for (std::uint32_t k = 0; k < i.lanes; ++k) put(i, index * i.lanes + k, AccessKind::Write, slots[i.c + k]);
    Loads& own = loads[{now->group->id(), who}];
    for (const std::size_t read : own.reads) events[read].used = true;
    for (const auto& key : own.outside) ++outsides[key];
    own = {};
  }
  void atomic(const Instruction& i, std::size_t lane, std::uint32_t, std::uint32_t value) { put(i, lane, AccessKind::Atomic, value); }
  void outside(const Instruction& i, std::size_t, const std::uint32_t*) {
    const Key key{statement(i).index, i.b};
    Loads& own = loads[{now->group->id(), who}];
    if (i.code == Opcode::Load || i.code == Opcode::LoadLanes) {
      own.outside.push_back(key);
    } else {
      ++outsides[key];
      if (i.code != Opcode::Atomic) own = {};  // a store without effect
    }
  }

  NodeId statement(const Instruction& i) const { return job.code.statements[static_cast<std::size_t>(&i - job.code.instructions.data())]; }
  void put(const Instruction& i, std::size_t lane, AccessKind kind, std::uint32_t value) {
    if (!now->group->memory(i.b).writable) return;
    if (kind == AccessKind::Read) loads[{now->group->id(), who}].reads.push_back(events.size());
    events.push_back({i.b, lane, now->group->id(), who, now->phase, kind, statement(i), value});
  }

  struct Running {
    const Group* group;
    std::uint32_t phase = 0;
  };
  using Key = std::pair<std::uint32_t, std::uint32_t>;  // statement and buffer
  struct Loads {
    std::vector<std::size_t> reads;  // in `events`
    std::vector<Key> outside;
  };
  const Job& job;
  std::map<std::pair<Triple, Triple>, Loads> loads;  // whose values no store has taken yet, by workgroup and invocation
  std::vector<Running> groups;
  Running* now = nullptr;
  Triple who{};
  std::vector<Event> events;
  std::map<Key, std::uint64_t> outsides;
};

// A few statements on a few elements, chosen by ids alone.
class Racy {
 public:
  explicit Racy(std::uint64_t seed) : random_(seed) {}

  ir::Program make() {
    sample_.out("a").out("b", DataType::Vec2U32).shared("s", 3).size(1 + below(4), 1 + below(2));
    List entry;
    const std::uint32_t statements = 1 + below(7);
    for (std::uint32_t k = 0; k < statements; ++k) entry.push_back(statement(0));
    return sample_.add(entry).make();
  }

 private:
  std::uint32_t below(std::uint32_t limit) { return static_cast<std::uint32_t>(random_() % limit); }

  // Mostly in bounds of three elements.
  ExprHandle index() {
    const ExprHandle flat = lid(1) * u32(2) + lid(0);
    const ExprHandle ids[] = {u32(below(3)), flat, flat, gid(0), wid(0), wid(0) + flat, u32(below(5)), flat + u32(1)};
    const ExprHandle chosen = ids[below(8)];
    return below(2) == 0 ? bin(BinOp::Mod, chosen, u32(3)) : chosen;
  }
  ExprHandle value() {
    switch (below(4)) {
      case 0:
        return load("a", index());
      case 1:
        return load("s", index());
      case 2:
        return lane(load("b", index()), below(2));
      default:
        return u32(below(100));
    }
  }
  NodeHandle statement(std::uint32_t depth) {
    switch (below(depth < 2 ? 9 : 6)) {
      case 0:
        return store("a", index(), value());
      case 1:
        return store("s", index(), value());
      case 2:
        return store("b", index(), pack(DataType::Vec2U32, {value(), u32(1)}));
      case 3:
      case 4:
        return let("x" + std::to_string(names_++), atomic(below(2) == 0 ? AtomicOp::Add : AtomicOp::Xor, "a", index(), u32(1)));
      case 5:
        return barrier();
      case 6:
        return loop("k" + std::to_string(names_++), u32(0), u32(below(3)), {statement(depth + 1), statement(depth + 1)});
      case 7:
        // The same for a workgroup, so that barriers may stand in it.
        return if_(bin(BinOp::Eq, wid(0), u32(below(3))), {statement(depth + 1)}, {statement(depth + 1)});
      default: {
        const NodeHandle then = store(below(2) == 0 ? "a" : "s", index(), value());
        return if_(lid(0) < u32(1 + below(3)), {then});
      }
    }
  }

  std::mt19937_64 random_;
  Sample sample_;
  std::uint32_t names_ = 0;
};

// use(job, run), where run(observer) dispatches.
template <class Use>
void watch_run(const ir::Program& program, const Code& code, std::uint32_t workgroups, const Schedule& schedule, Use use) {
  test::Words a(3), b(6);
  const std::vector<Memory> memory{
      {reinterpret_cast<std::byte*>(a.data()), 3, true}, {reinterpret_cast<std::byte*>(b.data()), 3, true}, {nullptr, 3, true}};
  const Job job{program, code, memory, {workgroups, 1, 1}};
  const RunOptions options;
  Watch watch(options);
  use(job, [&](auto& observer) { dispatch(job, schedule, watch, observer); });
}

using Pair = std::array<std::uint32_t, 3>;  // statements, the smaller one first; buffer
Pair pair_of(NodeId a, NodeId b, std::uint32_t buffer) { return {std::min(a.index, b.index), std::max(a.index, b.index), buffer}; }

TEST(RaceOracle, findings_are_those_of_all_pairs_of_all_accesses_in_every_schedule) {
  constexpr std::uint64_t kSeeds = 3000;
  std::size_t racy = 0, calm = 0, unwritten = 0, outside = 0;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const ir::Program program = Racy(seed).make();
    const validate::ValidProgram valid = test::valid(program, {.limits = true, .uniformity = false});
    const Code code = compile(valid);
    const std::uint32_t workgroups = 1 + static_cast<std::uint32_t>(seed % 3);
    std::set<std::pair<std::uint32_t, std::size_t>> racy_in_order;
    for (const Schedule& schedule : test::all_schedules()) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", order " + std::to_string(static_cast<int>(schedule.order)) + "\n" +
                   ir::to_text(program));
      Findings findings;
      std::set<std::pair<std::uint32_t, std::size_t>> found_lanes;
      const std::vector<bool> blank{true, false, true};
      watch_run(program, code, workgroups, schedule, [&](const Job& job, auto&& run) {
        CheckOptions checks;
        checks.max_findings = 10'000;
        checks.promised_zeros = true;
        Checker checker(job, checks, blank);
        run(checker);
        findings = checker.findings(true);
        for (std::uint32_t buffer = 0; buffer < 2; ++buffer) {
          for (std::size_t lane = 0; lane < 3 * (buffer + 1); ++lane) {
            if (checker.raced(BufferId{buffer}, lane / (buffer + 1))) found_lanes.insert({buffer, lane});
          }
        }
      });
      std::vector<Event> events;
      std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> outsides;
      watch_run(program, code, workgroups, schedule, [&](const Job& job, auto&& run) {
        Recorder recorder(job);
        run(recorder);
        events = recorder.events;
        outsides = recorder.outsides;
      });

      // All pairs.
      std::set<std::pair<std::uint32_t, std::size_t>> lanes, shared_lanes;
      std::set<Pair> pairs;
      for (std::size_t second = 0; second < events.size(); ++second) {
        for (std::size_t first = 0; first < second; ++first) {
          const Event& one = events[first];
          const Event& other = events[second];
          if (one.buffer == 2 && one.workgroup != other.workgroup) continue;  // each has its own
          if (!race(one, other)) continue;
          (one.buffer == 2 ? shared_lanes : lanes).insert({one.buffer, one.lane});
          pairs.insert(pair_of(one.statement, other.statement, one.buffer));
        }
      }
      EXPECT_EQ(found_lanes, lanes);
      if (schedule == Schedule{}) racy_in_order = lanes;
      EXPECT_EQ(lanes, racy_in_order);

      const auto happened = [&](const Race& found, const Witness& who) {
        return std::any_of(events.begin(), events.end(), [&](const Event& event) {
          const std::uint32_t lanes_each = found.buffer.index == 1 ? 2 : 1;
          return event.buffer == found.buffer.index && event.lane == found.index * lanes_each && event.workgroup == who.workgroup &&
                 event.local == who.local && event.kind == who.access && event.statement == who.statement && event.value == who.value;
        });
      };
      std::set<Pair> reported_pairs;
      std::set<std::uint32_t> racy_buffers, reported_buffers;
      std::size_t lowest_shared = 3;
      for (const Pair& pair : pairs) racy_buffers.insert(pair[2]);
      for (const auto& [buffer, lane] : shared_lanes) lowest_shared = std::min(lowest_shared, lane);
      std::size_t reported_shared = 3;
      for (const Finding& finding : findings.list) {
        if (const auto* found = std::get_if<Race>(&finding)) {
          const Pair pair = pair_of(found->first.statement, found->second.statement, found->buffer.index);
          EXPECT_TRUE(pairs.contains(pair));
          EXPECT_TRUE(reported_pairs.insert(pair).second) << "two findings for one pair";
          EXPECT_TRUE(happened(*found, found->first));
          EXPECT_TRUE(happened(*found, found->second));
          reported_buffers.insert(found->buffer.index);
          if (found->buffer.index == 2) reported_shared = std::min<std::size_t>(reported_shared, found->index);
        }
      }
      EXPECT_EQ(reported_buffers, racy_buffers);
      EXPECT_EQ(reported_shared, lowest_shared);

      // In the order in which things happened.
      std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> unwritten_reads;
      std::set<std::tuple<std::uint32_t, std::size_t, std::uint32_t>> written;
      for (const Event& event : events) {
        const auto lane = std::tuple(event.buffer, event.lane, event.buffer == 2 ? event.workgroup[0] : 0);
        if (event.kind != AccessKind::Read) {
          written.insert(lane);
        } else if (event.used && blank[event.buffer] && !written.contains(lane)) {
          ++unwritten_reads[{event.statement.index, event.buffer}];
        }
      }
      std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> reported_reads, reported_outsides;
      for (const Finding& finding : findings.list) {
        const auto* const zero = std::get_if<PromisedZero>(&finding);
        const UninitialisedRead* const read = zero != nullptr ? zero : std::get_if<UninitialisedRead>(&finding);
        if (read != nullptr) {
          EXPECT_EQ(zero != nullptr, read->buffer.index == 2);  // which is of the workgroup
          reported_reads[{read->witness.statement.index, read->buffer.index}] = read->count;
        } else if (const auto* out = std::get_if<OutOfBounds>(&finding)) {
          reported_outsides[{out->witness.statement.index, out->buffer.index}] = out->count;
        }
      }
      EXPECT_EQ(reported_reads, unwritten_reads);
      EXPECT_EQ(reported_outsides, outsides);
      racy += pairs.empty() ? 0 : 1;
      calm += pairs.empty() ? 1 : 0;
      unwritten += unwritten_reads.size();
      outside += reported_outsides.size();
      if (testing::Test::HasFailure()) return;
    }
  }
  // The programs are of both kinds, often.
  EXPECT_GT(racy, kSeeds / 2);
  EXPECT_GT(calm, kSeeds / 2);
  EXPECT_GT(unwritten, kSeeds / 10);
  EXPECT_GT(outside, kSeeds / 10);
}

}  // namespace
}  // namespace vyre::run::reference
