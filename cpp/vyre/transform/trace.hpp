// Makes a program that does what another does and also records the values that it computes on the way. If two backends disagree, their
// records show where they began to, because the arithmetic is the same on every backend.
//
// Every expression that a statement evaluates becomes a Let before it, in evaluation order, so the value that is recorded is the value that
// is used. Some of these values are points of the trace, one for each lane. The value of an element right after a store to it is a point,
// too. Loading it again is no race unless the program has one: between a store and a barrier the element belongs to the invocation. After
// an atomic the element may hold any value, because atomics of other invocations may come in between. An invocation counts the points that
// it passes (steps) and the barriers (phases), and folds each point into a hash with fold(). Each argument of fold() follows from the
// result and the other argument, so one changed lane changes every later hash, and two consecutive hashes give the lane between them.
//
// This does not find every fault: the result of atomics shows only at the end, a fault may go away when expressions are taken apart, and a
// store to one element may change another one. For such faults, the densities Effects and Branches leave the statements as they are
// written. They let stores and atomics have an effect only before a limit, in the order of phases, then invocations, then steps; the first
// effect with which the outputs of two backends differ is wrong. There are two such densities because a fault may depend on how deeply a
// store is nested, or may make a store that writes the old value change something.
//
// Beside the program's own buffers the traced program has two of U32:
//   limits (ReadOnly)    a word a LimitWord; points at or past a limit are neither counted nor folded.
//   record (ReadWrite)   kRecordWords words an invocation: hash, points counted, number of the last of them, 1 for being written.
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
  Effects,     // no values; stores and atomics are the points. Past the limits they write what is there already
  Branches     // likewise, but past the limits they do not write: a store stands in an If, and an atomic goes out of bounds
};

struct TracePoint {
  NodeId statement;     // of the program that is traced
  ExprId expr = {};     // likewise; invalid for the variable of a loop at the start of a turn, and for what a Store did
  bool effect = false;  // what the element holds after the Store or the atomic `expr`
  ir::DataType type = ir::DataType::U32;
  std::uint32_t lane = 0;

  bool same_value(const TracePoint& other) const { return statement == other.statement && expr == other.expr && effect == other.effect; }
};

struct Traced {
  validate::ValidProgram program;
  std::vector<TracePoint> points;  // in the order of their numbers
  std::string limits, record;      // names of the two buffers
};

// A value is told when both its phase and its step are below the limits. An effect happens in the phases below the limit, and in the
// phase that equals it in the invocations below kLimitInvocations, and there in the steps below the limit of the one that equals it.
enum LimitWord : std::uint32_t { kLimitPhases, kLimitSteps, kLimitGroupsX, kLimitGroupsY, kLimitInvocations, kLimitWords };
enum RecordWord : std::uint32_t { kRecordHash, kRecordSteps, kRecordPoint, kRecordWritten, kRecordWords };

// An odd number with bits all over, so that a product spreads every bit upwards.
inline constexpr std::uint32_t kTraceSpread = 0x9E3779B1;
constexpr std::uint32_t fold(std::uint32_t hash, std::uint32_t lane) { return (std::rotl(hash, 5) ^ lane) * kTraceSpread; }

struct TraceOptions {
  TraceDensity density = TraceDensity::Statements;
  NodeId detail;  // a statement whose expressions are all points, whatever the density
  // Values that are no points: such as depend on the order of invocations, as what an atomic gives may. Type and lane do not matter.
  std::vector<TracePoint> excluded;
};

// `ops` are those that the program was validated with: calls stay calls, and their results are values like any other.
Traced trace(const validate::ValidProgram& program, const ir::OpTable& ops, const TraceOptions& options);

// One statement in the text form; of If, Loop and Block without what they hold.
std::string statement_text(const ir::Program& program, NodeId statement);
std::string expression_text(const ir::Program& program, ExprId expr);
// The element that a Store, or the atomic `expr` of a statement, is about.
std::string element_text(const ir::Program& program, NodeId statement, ExprId expr);

}  // namespace vyre::transform
