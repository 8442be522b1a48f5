#include "support/conformance.hpp"

#include <fmt/format.h>

#include <iterator>

#include "support/expected_values.hpp"
#include "support/programs/programs.hpp"
#include "vyre/ir/semantics.hpp"

namespace vyre::test {
namespace {

using namespace sample;
using Cases = std::vector<ConformanceCase>;

void add_operators(Cases& cases) {
  Words left, right;
  for (std::uint32_t a : kEdges) {
    for (std::uint32_t b : kEdges) {
      left.push_back(a);
      right.push_back(b);
    }
  }
  for (const ExpectedBinary& wanted : kExpectedBinary) {
    const ir::BinOpInfo& row = ir::info(wanted.op);
    Words expected;
    for (const auto& results : wanted.result) expected.insert(expected.end(), std::begin(results), std::end(results));
    Sample sample;
    sample.in("left", row.operands[0]).in("right", row.operands[1]).out("out", row.result).size(16);
    sample.add(store("out", gid(0), bin(row.op, load("left", gid(0)), load("right", gid(0)))));
    cases.push_back({fmt::format("binary_{}", row.text), sample.make(), {left, right, Words(64)}, {left, right, expected}, {4, 1, 1}});
  }
  const Words edges(kEdges.begin(), kEdges.end());
  for (const ExpectedUnary& wanted : kExpectedUnary) {
    const ir::UnOpInfo& row = ir::info(wanted.op);
    Sample sample;
    sample.in("in", row.operands[0]).out("out", row.result).size(16).add(store("out", gid(0), un(row.op, load("in", gid(0)))));
    const Words expected(std::begin(wanted.result), std::end(wanted.result));
    cases.push_back({fmt::format("unary_{}", row.text), sample.make(), {edges, Words(8)}, {edges, expected}, {1, 1, 1}});
  }
}

void add_casts(Cases& cases) {
  for (const ir::CastRow& row : ir::kCasts) {
    if (row.source == DataType::Bytes) continue;  // no expression has this type
    Words given, expected;
    std::uint32_t count = 0;
    for (const ExpectedCast& wanted : kExpectedCasts) {
      if (wanted.source != row.source || wanted.target != row.target) continue;
      given.insert(given.end(), wanted.from.begin(), wanted.from.begin() + ir::lanes(row.source));
      expected.insert(expected.end(), wanted.to.begin(), wanted.to.begin() + ir::lanes(row.target));
      ++count;
    }
    Sample sample;
    sample.in("in", row.source).out("out", row.target).size(4).add(store("out", gid(0), cast(row.target, load("in", gid(0)))));
    cases.push_back({fmt::format("cast_{}_to_{}", name(row.source), name(row.target)),
                     sample.make(),
                     {given, Words(expected.size(), 0x55555555)},
                     {given, expected},
                     {(count + 3) / 4, 1, 1}});
  }
}

void add_atomics(Cases& cases) {
  struct Row {
    AtomicOp op;
    std::uint32_t after_first, after_last;  // of the words at 0 and 5, which hold 0x1000 and 0x1005
  };
  // Each invocation applies 0x1003 at its index; CompareExchange expects 0x1000.
  const Row rows[] = {
      {AtomicOp::Add, 0x2003, 0x2008},      {AtomicOp::And, 0x1000, 0x1001},
      {AtomicOp::Or, 0x1003, 0x1007},       {AtomicOp::Xor, 0x0003, 0x0006},
      {AtomicOp::Min, 0x1000, 0x1003},      {AtomicOp::Max, 0x1003, 0x1005},
      {AtomicOp::Exchange, 0x1003, 0x1003}, {AtomicOp::CompareExchange, 0x1003, 0x1005},
  };
  // The last ones are where byte offsets wrap around. Eight lanes a workgroup: in bounds, out of bounds and mixed.
  const Words indices{0, 5, 6, 7, 0x3FFFFFFF, 0x40000000, 0x40000001, 0x80000000, 0xC0000003, 0xFFFFFFFF};
  const Words guard(64, 0xABABABAB), data{0x1000, 0x1001, 0x1002, 0x1003, 0x1004, 0x1005}, old{0x1000, 0x1005, 0, 0, 0, 0, 0, 0, 0, 0};
  for (const Row& row : rows) {
    Words after = data;
    after[0] = row.after_first;
    after[5] = row.after_last;
    const ExprHandle at = load("indices", gid(0)), value = u32(0x1003);
    const ExprHandle made =
        row.op == AtomicOp::CompareExchange ? compare_exchange("data", at, u32(0x1000), value) : atomic(row.op, "data", at, value);
    Sample sample;
    sample.out("before").in("indices").out("data").out("after").out("out").size(8);
    sample.add(if_(gid(0) < len("indices"), {store("out", gid(0), made)}));
    cases.push_back({fmt::format("{}_out_of_bounds", info(row.op).text),
                     sample.make(),
                     {guard, indices, data, guard, Words(10, 0x55)},
                     {guard, indices, after, guard, old},
                     {2, 1, 1}});
  }
}

// Lanes are turned around in every second element, and then exchanged in pairs: an assignment reads lanes that it writes.
void add_lanes(Cases& cases) {
  const auto of = [](std::uint32_t k) { return lane(var("v"), k); };
  Sample sample;
  sample.in("in", DataType::Vec4U32).out("out", DataType::Vec4U32).out("pairs", DataType::U64).size(2);
  sample.add({let("v", load("in", gid(0))),
              assign("v", select(bin(BinOp::BitAnd, gid(0), u32(1)), pack(DataType::Vec4U32, {of(3), of(2), of(1), of(0)}), var("v"))),
              assign("v", pack(DataType::Vec4U32, {of(1), of(0), of(3), of(2)})), store("out", gid(0), var("v")),
              store("pairs", gid(0), pack(DataType::U64, {of(0), of(3)}))});
  cases.push_back({"lanes",
                   sample.make(),
                   {{1, 2, 3, 4, 5, 6, 7, 8}, Words(8), Words(4)},
                   {{1, 2, 3, 4, 5, 6, 7, 8}, {2, 1, 4, 3, 7, 8, 5, 6}, {2, 3, 7, 6}},
                   {1, 1, 1}});
}

// The sum of a workgroup through its memory, halving the distance at each barrier; memory is zero in each of two workgroups.
void add_reduction(Cases& cases) {
  Sample sample;
  sample.in("in").shared("shared", 64).out("out").out("clean").size(64);
  sample.add(
      {store("clean", gid(0), load("shared", lid(0))), barrier(), store("shared", lid(0), load("in", gid(0))), barrier(),
       let("distance", u32(32)),
       loop("round", u32(0), u32(6),
            {if_(lid(0) < var("distance"), {store("shared", lid(0), load("shared", lid(0)) + load("shared", lid(0) + var("distance")))}),
             barrier(), assign("distance", bin(BinOp::Shr, var("distance"), u32(1)))}),
       if_(bin(BinOp::Eq, lid(0), u32(0)), {store("out", wid(0), load("shared", u32(0)))})});
  const Words in = counted(128, 1);
  cases.push_back({"reduction_in_workgroup_memory",
                   sample.make(),
                   {in, Words(2), Words(128, 5)},
                   {in, {7 * 64 + 63 * 64 / 2, 7 * 64 + 127 * 128 / 2 - 63 * 64 / 2}, Words(128, 0)},
                   {2, 1, 1}});
}

}  // namespace

const std::vector<ConformanceCase>& conformance_cases() {
  static const Cases cases = [] {
    Cases all;
    add_operators(all);
    add_casts(all);
    add_atomics(all);
    add_lanes(all);
    add_reduction(all);
    return all;
  }();
  return cases;
}

}  // namespace vyre::test
