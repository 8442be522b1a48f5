// Shadow memory: the state that checked execution keeps for each element of writable memory, and by which it detects races. The documents
// define races for locations, which are 32-bit words of an element or whole narrow elements (docs/semantics.md, Memory, atomics, barriers).
// All locations of an element have the same state, because every access to a buffer takes all lanes of an element.
//
// Two accesses are ordered when one invocation makes both, or when a barrier of their common workgroup stands between them; nothing
// orders two workgroups. They race when they are not ordered, unless both read or both are atomic.
//
// As long as an element has had no race, it is in one of two states. The few fields of a Shadow therefore tell whether the next access
// races with any earlier one, in whatever order the invocations run:
//   one workgroup       All accesses were made by one workgroup. Barriers order its earlier phases before the latest one, so for its own
//                       accesses only the latest phase matters: either one invocation made all accesses of this phase, or several
//                       invocations did, and all accesses were reads or all were atomic. `seen_` has the kinds of all accesses, with which
//                       an access of another workgroup may race.
//   several workgroups  All accesses were reads, or all were atomic. An access of another kind is a race.
// After a race the state begins anew with the access that raced, so that further races at the element are found, too.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "vyre/run/checks/checked.hpp"
#include "vyre/run/reference/code.hpp"

namespace vyre::run::reference {

// The invocation that makes the current access.
struct Now {
  std::uint32_t workgroup = 0;   // linear in the grid
  std::uint32_t phase = 0;       // barriers passed
  std::uint16_t invocation = 0;  // linear in the workgroup
};

// The shadow of one element. It is all zeros if the element was never accessed, so an array of shadows may be fresh pages of the system.
class Shadow {
 public:
  static constexpr std::uint8_t kNoSlot = 0xFF;

  // Records an access. Returns the slot of an earlier access that it races with, or kNoSlot; after a race, call begin_anew().
  template <AccessKind kKind>
  std::uint8_t touch(const Now& now, Address site, std::uint32_t value) {
    constexpr auto kSlot = static_cast<std::uint8_t>(kKind);
    constexpr std::uint8_t kBit = 1u << kSlot;
    constexpr bool kShares = kKind != AccessKind::Write;  // accesses of this kind do not race with each other
    if (seen_ == 0) {
      workgroup_ = now.workgroup;
      return enter_phase(kSlot, now, site, value);
    }
    if (workgroup_ == now.workgroup && !apart_) {
      if (phase_ != now.phase) return enter_phase(kSlot, now, site, value);
      if (several_) {
        if (kShares && phase_seen_ == kBit) return kNoSlot;
        const std::uint8_t slot = first(phase_seen_);
        return invocation_[slot] != now.invocation ? slot : kOther;
      }
      if (invocation_[first(phase_seen_)] == now.invocation) {
        phase_seen_ |= kBit;
        seen_ |= kBit;
        put(kSlot, now, site, value);
        return kNoSlot;
      }
      if (kShares && phase_seen_ == kBit) {
        several_ = true;
        put(kOther, now, site, value);
        return kNoSlot;
      }
      return opponent(kKind, phase_seen_);
    }
    if (kShares && seen_ == kBit) {
      if (!apart_) {
        apart_ = true;
        phase_ = now.workgroup;
        put(kOther, now, site, value);
      }
      return kNoSlot;
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

  // Begins anew if the state is of another workgroup. For the memory of workgroups, which lives only as long as its workgroup.
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
  // Each kind of access has a slot for the latest access. kOther is the slot for the access of a second invocation or workgroup that shares
  // the element.
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
    return kNoSlot;
  }
  void put(std::uint8_t slot, const Now& now, Address site, std::uint32_t value) {
    site_[slot] = site;
    value_[slot] = value;
    invocation_[slot] = now.invocation;
  }

  bool several_ = false;                    // several invocations made accesses in the latest phase, all of one kind
  bool apart_ = false;                      // several workgroups made accesses, all of one kind
  std::uint8_t seen_ = 0, phase_seen_ = 0;  // bits for the kinds of access: of all accesses, and of the latest phase
  std::uint32_t workgroup_ = 0;
  std::uint32_t phase_ = 0;  // the latest phase; if apart_, the second workgroup instead
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
