// Turns a program into a traced program, which does the same and also records the values that it computes. If two backends give different
// outputs, their records show the first value that differs, because the arithmetic is the same on every backend.
//
// Every expression that a statement evaluates becomes a Let in front of the statement, in evaluation order, so the recorded value is the
// value that the statement uses. Some of these values are points of the trace, one point for each lane. The value that an element has right
// after a store to it is a point, too. Loading the element again is no race unless the program has one: between a store and a barrier the
// element belongs to the invocation. The value that an element has after an atomic is no point, because atomics of other invocations may
// come in between.
//
// An invocation counts the points that it passes (steps) and the barriers (phases), and folds each point into a hash with fold(). The
// result of fold() and either argument determine the other argument. So one changed lane changes every later hash, and two consecutive
// hashes give the lane between them.
//
// Some faults cannot be found in this way: a wrong result of an atomic shows only at the end, a fault may disappear when expressions are
// split into Lets, and a store to one element may change another element. For these faults, the densities Effects and Branches leave the
// statements as they are written, and let stores and atomics have an effect only before a limit, in the order of phases, then invocations,
// then steps. If the outputs of two backends first differ when one more effect is let through, that effect is wrong. There are two such
// densities because each may change a fault: with Branches, stores are nested one level deeper; with Effects, stores past the limits still
// write the old value.
//
// Beside the program's own buffers the traced program has two buffers of U32:
//   limits (ReadOnly)    one word for each LimitWord
//   record (ReadWrite)   kRecordWords words for each invocation: the hash, the number of points that were counted, the number of the last
//                        of them (an index into Traced::points), and 1 to show that the record was written
// An invocation's number is workgroup * invocations of a workgroup + its number in the workgroup, x fastest in both.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "vyre/validate/validate.hpp"

namespace vyre::transform {

enum class TraceDensity : std::uint8_t {
  Statements,  // the value of every Let, Assign, condition and bound, every turn of a loop, loads of writable memory, and Stores
  Stores,      // what is stored and where, what the element holds afterwards, and atomics with their operands
  Effects,     // no values; stores and atomics are the points. Past the limits, a store writes the old value and an atomic changes nothing
  Branches     // likewise, but past the limits they do not write: a store stands in an If, and an atomic goes out of bounds
};

struct TracePoint {
  NodeId statement;     // of the program that is traced
  ExprId expr = {};     // likewise; invalid for the variable of a loop at the start of a turn, and for the effect of a Store
  bool effect = false;  // whether the point is the effect of the Store or of the atomic `expr`: what the element holds afterwards
  ir::DataType type = ir::kU32;
  std::uint32_t lane = 0;

  bool same_value(const TracePoint& other) const { return statement == other.statement && expr == other.expr && effect == other.effect; }
};

struct Traced {
  validate::ValidProgram program;
  std::vector<TracePoint> points;  // in the order of their numbers
  std::string limits, record;      // names of the two buffers
};

// With Statements and Stores, a value is counted and folded if its phase and its step are both below their limits. With Effects and
// Branches, an effect happens if (phase, invocation, step) comes before (kLimitPhases, kLimitInvocations, kLimitSteps) in lexicographic
// order. kLimitGroupsX and kLimitGroupsY are not limits: they hold the number of workgroups along x and y, by which invocations are
// numbered.
enum LimitWord : std::uint32_t { kLimitPhases, kLimitSteps, kLimitGroupsX, kLimitGroupsY, kLimitInvocations, kLimitWords };
enum RecordWord : std::uint32_t { kRecordHash, kRecordSteps, kRecordPoint, kRecordWritten, kRecordWords };

// The factor is odd, so that the product can be undone, and has set bits throughout, so that a product spreads every bit upwards.
inline constexpr std::uint32_t kTraceSpread = 0x9E3779B1;
constexpr std::uint32_t fold(std::uint32_t hash, std::uint32_t lane) { return (std::rotl(hash, 5) ^ lane) * kTraceSpread; }

struct TraceOptions {
  TraceDensity density = TraceDensity::Statements;
  NodeId detail;  // a statement whose expressions are all points, whatever the density
  // Values that do not become points, because they depend on the order of invocations, as the result of an atomic may. Their type and lane
  // are ignored.
  std::vector<TracePoint> excluded;
};

// `ops` is the table that the program was validated with. Calls stay calls, and their results are traced like any other value.
Traced trace(const validate::ValidProgram& program, const ir::OpTable& ops, const TraceOptions& options);

// Returns one statement in the text form; an If, a Loop or a Block without its body.
std::string statement_text(const ir::Program& program, NodeId statement);
std::string expression_text(const ir::Program& program, ExprId expr);
// Returns the element that a Store, or the atomic `expr` of a statement, accesses, in the text form.
std::string element_text(const ir::Program& program, NodeId statement, ExprId expr);

}  // namespace vyre::transform
