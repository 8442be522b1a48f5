// Shadow memory: the state that checked execution keeps for one element of writable memory, and how it tells a race there. A location is a
// 32-bit word of an element, or a whole narrow element (docs/semantics.md, Memory, atomics, barriers); but every access to a buffer takes
// all lanes of an element, so these are always in the same state.
//
// Two accesses are ordered when one invocation makes both, or when a barrier of their common workgroup stands between them; nothing
// orders two workgroups. They race when they are not ordered, unless both read or both are atomic.
//
// As long as no race was seen, an element is in one of few states, and so little is enough to tell whether the next access races with any
// earlier one, in whatever order invocations are taken:
//   one workgroup    All accesses are its own. Barriers order the earlier phases, so only the latest one matters: either one invocation
//                    made all accesses of it, or several did and all read, or all were atomic. `seen` tells what another workgroup
//                    would meet.
//   several of them  All accesses read, or all were atomic. Any other access is a race.
// After a race an element begins anew with the access that raced, so that other pairs are found too.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "vyre/run/checked.hpp"
#include "vyre/run/reference/code.hpp"

namespace vyre::run::reference {

// The invocation whose accesses are reported.
struct Now {
  std::uint32_t workgroup = 0;   // linear in the grid
  std::uint32_t phase = 0;       // barriers passed
  std::uint16_t invocation = 0;  // linear in the workgroup
};

// All zero: never accessed. Arrays of it may come straight from the system's zeroed pages.
class Shadow {
 public:
  static constexpr std::uint8_t kNobody = 0xFF;

  // Records an access. Returns the slot of an earlier access that it races with, or kNobody; after a race, call begin_anew().
  template <AccessKind kKind>
  std::uint8_t touch(const Now& now, Address site, std::uint32_t value) {
    constexpr auto kSlot = static_cast<std::uint8_t>(kKind);
    constexpr std::uint8_t kBit = 1u << kSlot;
    constexpr bool kShares = kKind != AccessKind::Write;  // with accesses of its own kind
    if (seen_ == 0) {
      workgroup_ = now.workgroup;
      return enter_phase(kSlot, now, site, value);
    }
    if (workgroup_ == now.workgroup && !apart_) {
      if (phase_ != now.phase) return enter_phase(kSlot, now, site, value);
      if (several_) {
        if (kShares && phase_seen_ == kBit) return kNobody;
        const std::uint8_t slot = first(phase_seen_);
        return invocation_[slot] != now.invocation ? slot : kOther;
      }
      if (invocation_[first(phase_seen_)] == now.invocation) {
        phase_seen_ |= kBit;
        seen_ |= kBit;
        put(kSlot, now, site, value);
        return kNobody;
      }
      if (kShares && phase_seen_ == kBit) {
        several_ = true;
        put(kOther, now, site, value);
        return kNobody;
      }
      return opponent(kKind, phase_seen_);
    }
    if (kShares && seen_ == kBit) {
      if (!apart_) {
        apart_ = true;
        phase_ = now.workgroup;
        put(kOther, now, site, value);
      }
      return kNobody;
    }
    if (!apart_) return opponent(kKind, seen_);
    return workgroup_ != now.workgroup ? first(seen_) : kOther;
  }

  template <AccessKind kKind>
  void begin_anew(const Now& now, Address site, std::uint32_t value) {
    const bool was_written = written;
    *this = Shadow();
    written = was_written;
    raced = true;
    touch<kKind>(now, site, value);
  }

  // For a workgroup's own memory, which lives as long as the workgroup.
  void forget_others(std::uint32_t workgroup) {
    if (workgroup_ == workgroup) return;
    *this = Shadow();
    workgroup_ = workgroup;
  }

  // The access in a slot that touch() returned.
  std::uint32_t workgroup_of(std::uint8_t slot) const { return slot == kOther && apart_ ? phase_ : workgroup_; }
  std::uint16_t invocation_of(std::uint8_t slot) const { return invocation_[slot]; }
  Address site_of(std::uint8_t slot) const { return site_[slot]; }
  std::uint32_t value_of(std::uint8_t slot) const { return value_[slot]; }

  bool written = false;  // by the program
  bool raced = false;

 private:
  // The latest access of each kind has a slot, and one more has the second of two that share the element.
  static constexpr std::uint8_t kOther = 3;

  static constexpr std::uint8_t first(std::uint8_t kinds) { return static_cast<std::uint8_t>(std::countr_zero(kinds)); }
  // One of `kinds` that races with an access of `kind`: a write if there was one.
  static constexpr std::uint8_t opponent(AccessKind kind, std::uint8_t kinds) {
    constexpr std::uint8_t kWrite = 1u << static_cast<std::uint8_t>(AccessKind::Write);
    if ((kinds & kWrite) != 0) return static_cast<std::uint8_t>(AccessKind::Write);
    const auto like = static_cast<std::uint8_t>(kind == AccessKind::Write ? 0u : 1u << static_cast<std::uint8_t>(kind));
    return first(kinds & static_cast<std::uint8_t>(~like));
  }

  std::uint8_t enter_phase(std::uint8_t slot, const Now& now, Address site, std::uint32_t value) {
    phase_ = now.phase;
    several_ = false;
    phase_seen_ = static_cast<std::uint8_t>(1u << slot);
    seen_ |= phase_seen_;
    put(slot, now, site, value);
    return kNobody;
  }
  void put(std::uint8_t slot, const Now& now, Address site, std::uint32_t value) {
    site_[slot] = site;
    value_[slot] = value;
    invocation_[slot] = now.invocation;
  }

  bool several_ = false;                    // several invocations made accesses in the latest phase, all of one kind
  bool apart_ = false;                      // several workgroups made accesses, all of one kind
  std::uint8_t seen_ = 0, phase_seen_ = 0;  // kinds of access: ever, in the latest phase
  std::uint32_t workgroup_ = 0;
  std::uint32_t phase_ = 0;  // the latest; when apart, the other workgroup
  std::array<Address, 4> site_{};
  std::array<std::uint32_t, 4> value_{};
  std::array<std::uint16_t, 4> invocation_{};
};
static_assert(sizeof(Shadow) == 56);

// The shadow memory of a buffer's elements, zero at first. Pages that are never touched cost nothing.
class Shadows {
 public:
  Shadows() = default;
  // Throws std::bad_alloc.
  explicit Shadows(std::size_t elements);
  Shadow* data() const { return shadows_.get(); }

 private:
  struct Release {
    std::size_t mapped;  // bytes; 0 when they come from the heap
    void operator()(Shadow* shadows) const;
  };
  std::unique_ptr<Shadow, Release> shadows_;
};

}  // namespace vyre::run::reference
