// Checked execution: one call on the reference that also says what a program did wrong while it ran, even if the result is right.
//
// A race is reported when no barrier of a common workgroup orders the two accesses, whether or not that changed a value: see
// reference/shadow.hpp.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "vyre/base/id.hpp"
#include "vyre/ir/fwd.hpp"
#include "vyre/run/backend.hpp"

namespace vyre::validate {
class ValidProgram;
}

namespace vyre::run {

// The checks, with the names that users write, in the order of Finding. "all" stands for those that are `usual`.
//   CHECK(member, usual, name, meaning)
// clang-format off
#define VYRE_CHECKS(CHECK)                                                                                               \
  CHECK(races,          true,  "race",               "accesses of two invocations to one element that nothing orders")   \
  CHECK(uninitialised,  true,  "uninitialised-read", "reads of storage that neither host nor program wrote before")      \
  CHECK(bounds,         true,  "out-of-bounds",      "accesses beyond the end of a buffer")                              \
  CHECK(barriers,       true,  "divergent-barrier",  "barriers that only a part of a workgroup reaches")                 \
  CHECK(order,          true,  "order-dependence",   "output that changes with the order in which atomics come")         \
  CHECK(promised_zeros, false, "promised_zeros",     "reads of workgroup and private memory before the first write")
// clang-format on

enum class AccessKind : std::uint8_t { Read, Write, Atomic };

// An access to memory: its invocation, its place in the program, and what happened.
struct Witness {
  std::array<std::uint32_t, 3> workgroup{}, local{};
  AccessKind access = AccessKind::Read;
  ir::AtomicOp op{};  // of an Atomic
  NodeId statement;
  // The value that was read, that was written, or that the atomic left in memory. For an element with several lanes, it is the first lane.
  // For an access out of bounds, it is 0 if the access is a load, and otherwise the operand that would have been stored or combined.
  std::uint32_t value = 0;
  bool operator==(const Witness&) const = default;
};

// The findings. All occurrences at the same statements with the same buffer are one finding, which counts them. The finding shows one
// occurrence: of a race, the one at the lowest index; otherwise the one in the lowest workgroup and invocation.

// Two accesses of different invocations to one element, which no barrier orders. At least one is a write or an atomic, and they are not
// both atomics.
struct Race {
  BufferId buffer;
  std::uint32_t index = 0;
  Witness first, second;
  std::uint64_t count = 0;  // accesses that raced with another one
};
// A load of a buffer that the host gave no data for, before an invocation stored there. It gives zero, but the program was probably meant
// to write the element first. A load or an atomic of bytes that may have any value (CheckOptions::written) is such a read too.
struct UninitialisedRead {
  BufferId buffer;
  std::uint32_t index = 0;
  Witness witness;
  std::uint64_t count = 0;  // reads
};
// An access beyond the end of a buffer. Its result is defined (docs/semantics.md, Out of bounds), but the program was probably not meant to
// make it.
struct OutOfBounds {
  BufferId buffer;
  std::uint32_t index = 0, length = 0;
  Witness witness;
  std::uint64_t count = 0;  // accesses
};
// A workgroup of which not all invocations wait at the same barrier. It runs no further.
struct DivergentBarrier {
  struct Stop {
    NodeId statement;  // a Barrier or a Return; invalid: the end of the program
    bool waits = false;
    std::uint32_t invocations = 0;
    std::array<std::uint32_t, 3> first{};  // local id of the first of them
  };
  std::array<std::uint32_t, 3> workgroup{};
  std::vector<Stop> stops;  // in program order
  std::uint64_t count = 0;  // workgroups
};
// An output that another schedule changes, although no race was found. It depends on what an atomic returned, or on the order of atomics
// that do not commute.
struct OrderDependence {
  BufferId buffer;
  std::uint32_t index = 0, lane = 0;  // the first that differs
  std::uint32_t value = 0, other = 0;
  Schedule schedule, other_schedule;
  std::vector<NodeId> atomics;  // statements that may be the cause, in program order
  std::uint64_t count = 0;      // lanes that differ
};

// A load of workgroup memory before an invocation of the workgroup stored there, or of private memory before the invocation itself did. It
// gives the zero that docs/semantics.md promises.
struct PromisedZero : UninitialisedRead {};

using Finding = std::variant<Race, UninitialisedRead, OutOfBounds, DivergentBarrier, OrderDependence, PromisedZero>;

struct CheckOptions {
#define CHECK(member, usual, name, meaning) bool member = usual;
  VYRE_CHECKS(CHECK)
#undef CHECK
  // Says for each bound buffer, in the order of Program::buffers(), whether the host gave no data for it. Empty: it gave data for all.
  std::vector<bool> blank;
  // For each bound buffer, one flag for each byte of its array: 1 if the byte was written, 0 if it may have any value. check() sets the
  // flags of the bytes that the program writes to 1. With an empty span or an empty list, all bytes count as written.
  std::vector<std::span<std::uint8_t>> written;
  std::size_t max_findings = 100;
};

struct Findings {
  std::vector<Finding> list;  // by kind, then in program order
  bool complete = true;       // otherwise there are more than max_findings
};

// Runs the program as Executable::run of the reference does, in the order of `options.schedule`, and returns the findings. Barriers that
// validation could not decide (V010) are checked while the program runs. Throws what run() throws, except that DivergentBarrierError is
// thrown only if `checks.barriers` is false. Throws CapabilityError for more than 2^32 - 1 workgroups.
Findings check(const validate::ValidProgram& program, std::span<const BufferView> buffers, Grid grid, const RunOptions& options,
               const CheckOptions& checks);

}  // namespace vyre::run
