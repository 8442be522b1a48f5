// Runs a grid's workgroups and their invocations in the order of a schedule.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

#include "vyre/base/random.hpp"
#include "vyre/run/reference/group.hpp"
#include "vyre/run/reference/interpret.hpp"

namespace vyre::run::reference {

// Random numbers for schedules.
class Random : public SplitMix64 {
 public:
  using SplitMix64::SplitMix64;

  // Returns 1 with probability 1/2, 2 with probability 1/4, and so on, up to 16.
  std::uint32_t burst() { return 1 + static_cast<std::uint32_t>(std::countr_zero(next() | 1u << 15)); }
};

// Runs one workgroup after the other, from barrier to barrier: every invocation runs until it waits, then all of them go on.
template <bool kReversed, class Observer>
class OneByOne {
 public:
  OneByOne(const Job& job, Watch& watch, Observer& observer)
      : job_(job), watch_(watch), observer_(observer), machine_(job.code, watch), group_(job), slots_(make_slots(job.code, job.memory)) {}

  void run() {
    const Grid& grid = job_.grid;
    for (std::uint32_t z = 0; z < grid.z; ++z) {
      for (std::uint32_t y = 0; y < grid.y; ++y) {
        for (std::uint32_t x = 0; x < grid.x; ++x) run(Triple{turned(x, grid.x), turned(y, grid.y), turned(z, grid.z)});
      }
    }
  }

 private:
  static std::uint32_t turned(std::uint32_t k, std::uint32_t count) { return kReversed ? count - 1 - k : k; }

  void run(const Triple& id) {
    watch_.spend(group_.own_bytes() / 16);
    group_.start(id);
    observer_.start(0, group_);
    for (;;) {
      const std::uint32_t invocations = job_.invocations();
      for (std::uint32_t k = 0; k < invocations; ++k) {
        const std::uint32_t invocation = turned(k, invocations);
        watch_.spend(job_.code.instructions.size());
        const Address at = group_.resume(invocation, slots_.data());
        group_.enter(invocation);
        observer_.enter(0, invocation);
        const Address stop = machine_.template run<false>(slots_.data(), group_.memory(), at, 0, observer_);
        group_.suspend(invocation, slots_.data(), stop);
      }
      if (group_.diverged()) return observer_.diverged(group_);
      if (!group_.waits()) return;
      group_.pass_barrier();
      observer_.pass_barrier(0);
    }
  }

  const Job& job_;
  Watch& watch_;
  Observer& observer_;
  Machine machine_;
  Group group_;
  std::vector<std::uint32_t> slots_;
};

// Runs several workgroups at a time, and of each of them as many invocations as memory allows. Random numbers choose the invocation that
// goes on, and for how many accesses to memory. Its turn ends only at an access to writable memory, because other invocations can observe
// nothing else.
template <class Observer>
class Interleaved {
 public:
  Interleaved(const Job& job, std::uint64_t seed, Watch& watch, Observer& observer)
      : job_(job), watch_(watch), observer_(observer), machine_(job.code, watch), random_(seed) {
    for (std::size_t axis = 0; axis < 3; ++axis) axes_[axis] = Axis(axis == 0 ? job.grid.x : axis == 1 ? job.grid.y : job.grid.z, random_);
  }

  void run() {
    admit();
    while (!groups_.empty() && live_ > 0) {
      fill();
      const std::uint32_t chosen = random_.below(static_cast<std::uint32_t>(busy_));
      Context& context = contexts_[chosen];
      Active& active = *groups_[context.number];
      active.group.enter(context.invocation);
      observer_.enter(context.number, context.invocation);
      const std::uint32_t burst = random_.burst();
      watch_.spend(std::uint64_t{burst} * 4);
      const Address stop = machine_.template run<true>(context.slots.data(), active.group.memory(), context.at, burst, observer_);
      const Opcode code = job_.code.instructions[stop].code;
      if (code != Opcode::Barrier && code != Opcode::End) {
        context.at = stop;
        continue;
      }
      active.group.suspend(context.invocation, context.slots.data(), stop);
      const std::size_t number = context.number;
      std::swap(contexts_[chosen], contexts_[--busy_]);
      if (--active.running == 0) end_phase(number);
    }
  }

 private:
  // The most memory, workgroups and invocations that are in progress at a time. Larger limits would not make checks find more.
  static constexpr std::uint64_t kBytes = std::uint64_t{64} << 20;
  static constexpr std::size_t kMostGroups = 8;
  static constexpr std::size_t kMostContexts = 1024;

  // Gives every number below `count` once, in a random order: offset + k * stride, where stride and count have no common factor.
  struct Axis {
    Axis() = default;
    Axis(std::uint32_t count, Random& random) : count(count), offset(random.below(count)), stride(1 + random.below(count)) {
      while (std::gcd(stride, count) != 1) ++stride;
    }
    std::uint32_t operator()(std::uint32_t k) const { return static_cast<std::uint32_t>((offset + std::uint64_t{k} * stride) % count); }
    std::uint32_t count = 1, offset = 0, stride = 1;
  };

  struct Active {
    explicit Active(const Job& job) : group(job) {}
    Group group;
    std::uint32_t running = 0;  // invocations that have not reached the end of this phase
  };
  // An invocation in the middle of a phase.
  struct Context {
    std::vector<std::uint32_t> slots;
    std::size_t number = 0;  // of its workgroup
    std::uint32_t invocation = 0;
    Address at = 0;
  };

  // Starts the next workgroup of the grid under `number`; false when there is none.
  bool start(std::size_t number) {
    if (done_) return false;
    Active& active = *groups_[number];
    watch_.spend(active.group.own_bytes() / 16);
    active.group.start({axes_[0](next_[0]), axes_[1](next_[1]), axes_[2](next_[2])});
    observer_.start(number, active.group);
    for (std::size_t axis = 0; ++next_[axis] == axes_[axis].count; ++axis) {
      next_[axis] = 0;
      if (axis == 2) {
        done_ = true;
        break;
      }
    }
    ++live_;
    begin_phase(number);
    return true;
  }

  void admit() {
    std::uint64_t bytes = 0;
    while (groups_.size() < kMostGroups && !done_) {
      groups_.push_back(std::make_unique<Active>(job_));
      start(groups_.size() - 1);
      bytes += groups_.back()->group.bytes();
      if (bytes + bytes / groups_.size() > kBytes) break;
    }
  }

  void begin_phase(std::size_t number) {
    Active& active = *groups_[number];
    active.running = job_.invocations();
    for (std::uint32_t invocation = 0; invocation < active.running; ++invocation) ready_.push_back({number, invocation});
  }

  void end_phase(std::size_t number) {
    Group& group = groups_[number]->group;
    if (group.diverged()) {
      observer_.diverged(group);
    } else if (group.waits()) {
      group.pass_barrier();
      observer_.pass_barrier(number);
      return begin_phase(number);
    }
    --live_;
    start(number);
  }

  // Gives free contexts to invocations that are ready.
  void fill() {
    while (!ready_.empty()) {
      if (busy_ == contexts_.size()) {
        const std::uint64_t bytes = std::uint64_t{job_.code.slots} * sizeof(std::uint32_t);
        if (busy_ > 0 && (busy_ == kMostContexts || (busy_ + 1) * bytes > kBytes)) return;
        contexts_.push_back({make_slots(job_.code, job_.memory)});
      }
      std::swap(ready_[random_.below(static_cast<std::uint32_t>(ready_.size()))], ready_.back());
      watch_.spend(job_.code.instructions.size());
      Context& context = contexts_[busy_++];
      std::tie(context.number, context.invocation) = ready_.back();
      ready_.pop_back();
      context.at = groups_[context.number]->group.resume(context.invocation, context.slots.data());
    }
  }

  const Job& job_;
  Watch& watch_;
  Observer& observer_;
  Machine machine_;
  Random random_;
  std::array<Axis, 3> axes_;
  Triple next_{};
  bool done_ = false;
  std::size_t live_ = 0;  // running workgroups
  std::vector<std::unique_ptr<Active>> groups_;
  std::vector<std::pair<std::size_t, std::uint32_t>> ready_;  // workgroup and invocation
  std::vector<Context> contexts_;                             // the first `busy_` are taken
  std::size_t busy_ = 0;
};

// Runs a grid whose counts are not zero.
template <class Observer>
void dispatch(const Job& job, const Schedule& schedule, Watch& watch, Observer& observer) {
  switch (schedule.order) {
    case Schedule::Order::InOrder:
      return OneByOne<false, Observer>(job, watch, observer).run();
    case Schedule::Order::Reversed:
      return OneByOne<true, Observer>(job, watch, observer).run();
    case Schedule::Order::Random:
      return Interleaved<Observer>(job, schedule.seed, watch, observer).run();
  }
}

}  // namespace vyre::run::reference
