// Makes a program that does what another does and also tells what it computed on the way: the same arithmetic on every backend, so
// two backends that disagree can be asked where they began to.
//
// Every expression that a statement evaluates becomes a Let before it, in evaluation order, so what is told is what is used. Some
// of these values are points, one a lane. An invocation counts the points that it passes (steps) and the barriers (phases), and
// folds each point into a hash with fold(), of which every argument can be told from the result and the other argument: one
// changed lane changes the hash whatever follows, and two hashes in a row give the lane between them.
//
// Beside the program's own buffers the traced program has two of U32:
//   limits (ReadOnly)    a word a LimitWord; points at or past either limit are neither counted nor folded.
//   record (ReadWrite)   kRecordWords words an invocation: hash, points counted, number of the last of them.
// An invocation's number is workgroup * invocations of a workgroup + its number in the workgroup, x fastest in both.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "vyre/validate/validate.hpp"

namespace vyre::transform {

enum class TraceDensity : std::uint8_t {
  Stores,     // what is stored and where, and atomics
  Statements  // also the value of every Let, Assign, condition and bound, every turn of a loop, and loads of writable memory
};

struct TracePoint {
  NodeId statement;  // of the program that is traced
  ExprId expr;       // likewise; invalid for the variable of a loop at the start of a turn
  ir::DataType type = ir::DataType::U32;
  std::uint32_t lane = 0;
};

struct Traced {
  validate::ValidProgram program;
  std::vector<TracePoint> points;  // in the order of their numbers
  std::string limits, record;      // names of the two buffers
};

enum LimitWord : std::uint32_t { kLimitPhases, kLimitSteps, kLimitGroupsX, kLimitGroupsY };
enum RecordWord : std::uint32_t { kRecordHash, kRecordSteps, kRecordPoint, kRecordWords };

// An odd number with bits all over, so that a product spreads every bit upwards.
inline constexpr std::uint32_t kTraceSpread = 0x9E3779B1;
constexpr std::uint32_t fold(std::uint32_t hash, std::uint32_t lane) { return (std::rotl(hash, 5) ^ lane) * kTraceSpread; }

struct TraceOptions {
  TraceDensity density = TraceDensity::Statements;
  NodeId detail;  // a statement whose expressions are all points, whatever the density
  // (statement, expression) of values that are no points: such as depend on the order of invocations, as what an atomic gives may.
  std::vector<std::pair<NodeId, ExprId>> excluded;
};

// `ops` are those that the program was validated with: calls stay calls, and their results are values like any other.
Traced trace(const validate::ValidProgram& program, const ir::OpTable& ops, const TraceOptions& options);

// One statement in the text form; of If, Loop and Block without what they hold.
std::string statement_text(const ir::Program& program, NodeId statement);
std::string expression_text(const ir::Program& program, ExprId expr);

}  // namespace vyre::transform
