#include "support/conformance.hpp"

#include <fmt/format.h>

#include <iterator>

#include "support/expected_values.hpp"
#include "vyre/ir/handles/handle.hpp"
#include "vyre/ir/handles/resolve.hpp"
#include "vyre/ir/semantics.hpp"

namespace vyre::test {
namespace {

using ir::AtomicOp;
using ir::BinOp;
using ir::BufferAccess;
using ir::BufferDecl;
using ir::DataType;
using ir::ExprHandle;
using ir::NodeHandle;
namespace expr = ir::expr;
namespace node = ir::node;

using Cases = std::vector<ConformanceCase>;

ExprHandle lit(std::uint32_t value) { return expr::u32(value); }
ExprHandle i() { return expr::var("i"); }
NodeHandle let_i() { return node::let("i", expr::gid(0)); }

void add_operators(Cases& cases) {
  Words left, right;
  for (std::uint32_t a : kEdges) {
    for (std::uint32_t b : kEdges) {
      left.push_back(a);
      right.push_back(b);
    }
  }
  const auto count = static_cast<std::uint32_t>(left.size());
  for (const ExpectedBinary& wanted : kExpectedBinary) {
    const ir::BinOpInfo& row = ir::info(wanted.op);
    Words expected;
    for (const auto& results : wanted.result) expected.insert(expected.end(), std::begin(results), std::end(results));
    const NodeHandle body[] = {let_i(), node::store("out", i(), expr::binary(row.op, expr::load("left", i()), expr::load("right", i())))};
    cases.push_back({fmt::format("binary_{}", row.text),
                     ir::make_program({BufferDecl::read("left", 0, row.operands[0]), BufferDecl::read("right", 1, row.operands[1]),
                                       BufferDecl::read_write("out", 2, row.result)},
                                      {16, 1, 1}, body),
                     {left, right, Words(count)},
                     {left, right, expected},
                     {(count + 15) / 16, 1, 1}});
  }
  const Words edges(kEdges.begin(), kEdges.end());
  for (const ExpectedUnary& wanted : kExpectedUnary) {
    const ir::UnOpInfo& row = ir::info(wanted.op);
    const Words expected(std::begin(wanted.result), std::end(wanted.result));
    const NodeHandle body[] = {let_i(), node::store("out", i(), expr::unary(row.op, expr::load("in", i())))};
    cases.push_back(
        {fmt::format("unary_{}", row.text),
         ir::make_program({BufferDecl::read("in", 0, row.operands[0]), BufferDecl::read_write("out", 1, row.result)}, {16, 1, 1}, body),
         {edges, Words(edges.size())},
         {edges, expected},
         {1, 1, 1}});
  }

  // Literals are what a compiler folds, or refuses: x / 0, shifts by 32 and more.
  struct Constant {
    BinOp op;
    std::uint32_t a, b, expected;
  };
  const Constant constants[] = {
      {BinOp::Div, 7, 0, 0},
      {BinOp::Mod, 7, 0, 0},
      {BinOp::Shl, 1, 32, 1},
      {BinOp::Shl, 1, 33, 2},
      {BinOp::Shr, 8, 32, 8},
      {BinOp::Shr, 8, 0xFFFFFFFF, 0},
      {BinOp::RotateLeft, 5, 32, 5},
      {BinOp::RotateRight, 5, 64, 5},
      {BinOp::Add, 0xFFFFFFFF, 2, 1},
      {BinOp::Sub, 0, 1, 0xFFFFFFFF},
      {BinOp::Mul, 0x10001, 0x10001, 0x20001},
  };
  std::vector<NodeHandle> body;
  Words expected;
  for (const Constant& constant : constants) {
    body.push_back(
        node::store("out", lit(static_cast<std::uint32_t>(expected.size())), expr::binary(constant.op, lit(constant.a), lit(constant.b))));
    expected.push_back(constant.expected);
  }
  cases.push_back({"operators_on_literals",
                   ir::make_program({BufferDecl::read_write("out", 0, DataType::U32)}, {1, 1, 1}, body),
                   {Words(expected.size())},
                   {expected},
                   {1, 1, 1}});

  const auto signed_quotient = [](BinOp op, std::int32_t a, std::int32_t b) {
    return expr::cast(DataType::U32, expr::binary(op, expr::i32(a), expr::i32(b)));
  };
  constexpr std::int32_t kMin = -2147483647 - 1;
  const NodeHandle signed_body[] = {node::store("out", lit(0), signed_quotient(BinOp::SDiv, kMin, -1)),
                                    node::store("out", lit(1), signed_quotient(BinOp::SMod, kMin, -1)),
                                    node::store("out", lit(2), signed_quotient(BinOp::SDiv, -7, 0)),
                                    node::store("out", lit(3), signed_quotient(BinOp::SMod, -7, 0)),
                                    node::store("out", lit(4), signed_quotient(BinOp::SDiv, -7, 2)),
                                    node::store("out", lit(5), signed_quotient(BinOp::SMod, -7, 2))};
  cases.push_back({"signed_operators_on_literals",
                   ir::make_program({BufferDecl::read_write("out", 0, DataType::U32)}, {1, 1, 1}, signed_body),
                   {Words(6)},
                   {{0x80000000, 0, 0, 0, 0xFFFFFFFD, 0xFFFFFFFF}},
                   {1, 1, 1}});
}

// One row of casts.def: the source's lanes, the target's lanes.
struct CastExample {
  DataType source, target;
  Words value, result;
};

const std::vector<CastExample>& cast_examples() {
  constexpr std::uint32_t kOnes = 0xFFFFFFFF;
  using enum DataType;
  static const std::vector<CastExample> rows{
      {U32, U32, {42}, {42}},
      {U32, I32, {kOnes}, {kOnes}},
      {U32, Bool, {0}, {0}},
      {U32, Bool, {7}, {1}},
      {U32, U64, {42}, {42, 0}},
      {U32, U64, {kOnes}, {kOnes, 0}},
      {U32, Vec2U32, {5}, {5, 5}},
      {U32, Vec4U32, {5}, {5, 5, 5, 5}},
      {I32, I32, {kOnes}, {kOnes}},
      {I32, U32, {kOnes}, {kOnes}},
      {I32, Bool, {0}, {0}},
      {I32, Bool, {kOnes}, {1}},
      {I32, Bool, {0x80000000}, {1}},
      {I32, U64, {kOnes}, {kOnes, kOnes}},
      {I32, U64, {0x7FFFFFFF}, {0x7FFFFFFF, 0}},
      {I32, U64, {0x80000000}, {0x80000000, kOnes}},
      {I32, Vec2U32, {kOnes}, {kOnes, kOnes}},
      {I32, Vec4U32, {kOnes}, {kOnes, kOnes, kOnes, kOnes}},
      {Bool, U32, {1}, {1}},
      {Bool, U32, {0}, {0}},
      {Bool, I32, {1}, {1}},
      {Bool, Bool, {1}, {1}},
      {Bool, U64, {0}, {0, 0}},
      {Bool, U64, {1}, {1, 0}},
      {Bool, Vec2U32, {0}, {0, 0}},
      {Bool, Vec2U32, {1}, {1, 1}},
      {Bool, Vec4U32, {1}, {1, 1, 1, 1}},
      {U64, U32, {0xDEAD, 0xBEEF}, {0xDEAD}},
      {U64, I32, {kOnes, 0}, {kOnes}},
      {U64, Bool, {0, 0}, {0}},
      {U64, Bool, {1, 0}, {1}},
      {U64, Bool, {0, 1}, {1}},
      {U64, U64, {1, 2}, {1, 2}},
      {U64, Vec2U32, {1, 2}, {1, 2}},
      {Vec2U32, U32, {3, 7}, {3}},
      {Vec2U32, I32, {kOnes, 0}, {kOnes}},
      {Vec2U32, U64, {1, 2}, {1, 2}},
      {Vec2U32, Vec2U32, {1, 2}, {1, 2}},
      {Vec2U32, Bool, {0, 0}, {0}},
      {Vec2U32, Bool, {0, 4}, {1}},
      {Vec4U32, U32, {1, 2, 3, 4}, {1}},
      {Vec4U32, I32, {kOnes, 2, 3, 4}, {kOnes}},
      {Vec4U32, Vec2U32, {1, 2, 3, 4}, {1, 2}},
      {Vec4U32, Vec4U32, {1, 2, 3, 4}, {1, 2, 3, 4}},
      {Vec4U32, Bool, {0, 0, 0, 0}, {0}},
      {Vec4U32, Bool, {0, 0, 0, 8}, {1}},
      {Vec4U32, U64, {1, 2, 3, 4}, {1, 2}},
  };
  return rows;
}

void add_casts(Cases& cases) {
  for (const ir::CastRow& row : ir::kCasts) {
    if (row.source == DataType::Bytes) continue;  // no expression has this type
    Words given, expected;
    std::uint32_t count = 0;
    for (const CastExample& example : cast_examples()) {
      if (example.source != row.source || example.target != row.target) continue;
      given.insert(given.end(), example.value.begin(), example.value.end());
      expected.insert(expected.end(), example.result.begin(), example.result.end());
      ++count;
    }
    const NodeHandle body[] = {let_i(), node::store("out", i(), expr::cast(row.target, expr::load("in", i())))};
    cases.push_back(
        {fmt::format("cast_{}_to_{}", name(row.source), name(row.target)),
         ir::make_program({BufferDecl::read("in", 0, row.source), BufferDecl::read_write("out", 1, row.target)}, {4, 1, 1}, body),
         {given, Words(expected.size(), 0x55555555)},
         {given, expected},
         {(count + 3) / 4, 1, 1}});
  }
  // A canonical Bool whatever the host stored, also from a Bool that is read.
  const Words host{0, 1, 2, 0x80000000, 0xFFFFFFFF, 0x100};
  const NodeHandle body[] = {let_i(), node::store("words", i(), expr::cast(DataType::U32, expr::load("in", i()))),
                             node::store("bools", i(), expr::load("in", i()))};
  cases.push_back({"bool_is_normalised",
                   ir::make_program({BufferDecl::read("in", 0, DataType::Bool), BufferDecl::read_write("words", 1, DataType::U32),
                                     BufferDecl::read_write("bools", 2, DataType::Bool)},
                                    {4, 1, 1}, body),
                   {host, Words(6, 9), Words(8, 9)},
                   // Eight invocations run: the last two read beyond the end, and words that no store reaches stay as they were.
                   {host, {0, 1, 1, 1, 1, 1}, {0, 1, 1, 1, 1, 1, 0, 0}},
                   {2, 1, 1}});
}

// N, and the indices where byte offsets wrap around; N is 6 below.
constexpr std::uint32_t kLength = 6;
const Words kIndices{0, 5, 6, 7, 0x3FFFFFFF, 0x40000000, 0x40000001, 0x80000000, 0xC0000003, 0xFFFFFFFF};
const auto kTries = static_cast<std::uint32_t>(kIndices.size());

// `lanes` words for each of `count` elements, all different and none zero.
Words filled(std::uint32_t count, std::uint32_t lanes) {
  Words words;
  for (std::uint32_t k = 0; k < count * lanes; ++k) words.push_back(0x1000 + k);
  return words;
}

constexpr DataType kElements[] = {DataType::U32, DataType::I32, DataType::U64, DataType::Vec2U32, DataType::Vec4U32, DataType::Bool};

void add_bounds(Cases& cases) {
  const NodeHandle let_at = node::let("at", expr::load("indices", i()));
  const ExprHandle at = expr::var("at");
  for (DataType element : kElements) {
    const std::uint32_t lanes = ir::lanes(element);
    const bool is_bool = element == DataType::Bool;
    const Words data = is_bool ? Words(kLength, 1) : filled(kLength, lanes);
    for (BufferAccess access : {BufferAccess::ReadOnly, BufferAccess::ReadWrite, BufferAccess::Uniform}) {
      Words loaded;
      for (std::uint32_t index : kIndices) {
        for (std::uint32_t lane = 0; lane < lanes; ++lane) loaded.push_back(index < kLength ? data[index * lanes + lane] : 0);
      }
      const NodeHandle body[] = {let_i(), let_at, node::store("out", i(), expr::load("data", at))};
      cases.push_back({fmt::format("load_{}_of_{}_out_of_bounds", name(element), info(access).name),
                       ir::make_program({BufferDecl::read("indices", 0, DataType::U32), BufferDecl::storage("data", 1, access, element),
                                         BufferDecl::read_write("out", 2, element)},
                                        {4, 1, 1}, body),
                       {kIndices, data, Words(kTries * lanes, 0x55)},
                       {kIndices, data, loaded},
                       {(kTries + 3) / 4, 1, 1}});
    }
    // Each invocation writes its own value; 0 and 5 are in range. Guards on both sides are other buffers.
    Words stored = data;
    Words values = is_bool ? Words(kTries, 0) : filled(kTries, lanes);
    if (!is_bool) {
      for (std::uint32_t& word : values) word += 0x9000;
    }
    for (std::uint32_t k = 0; k < kTries; ++k) {
      if (kIndices[k] >= kLength) continue;
      for (std::uint32_t lane = 0; lane < lanes; ++lane) stored[kIndices[k] * lanes + lane] = values[k * lanes + lane];
    }
    // Invocations past the last index read index 0 and value 0 there, and would write them: they are guarded.
    const NodeHandle body[] = {
        let_i(), let_at,
        node::if_(expr::binary(BinOp::Lt, i(), expr::buf_len("indices")), {node::store("data", at, expr::load("values", i()))})};
    const Words guard(64, 0xABABABAB);
    cases.push_back({fmt::format("store_{}_out_of_bounds", name(element)),
                     ir::make_program({BufferDecl::read_write("before", 9, DataType::U32), BufferDecl::read("indices", 0, DataType::U32),
                                       BufferDecl::read_write("data", 1, element), BufferDecl::read("values", 2, element),
                                       BufferDecl::read_write("after", 8, DataType::U32)},
                                      {4, 1, 1}, body),
                     {guard, kIndices, data, values, guard},
                     {guard, kIndices, stored, values, guard},
                     {(kTries + 3) / 4, 1, 1}});

    // Workgroup memory, zeroed in each workgroup: one invocation writes its id + 1, at its index, and reads there.
    Words shared_out;
    for (std::uint32_t k = 0; k < kTries; ++k) {
      for (std::uint32_t lane = 0; lane < lanes; ++lane) {
        const std::uint32_t splat = element == DataType::U64 && lane == 1 ? 0 : is_bool ? 1 : k + 1;
        shared_out.push_back(kIndices[k] < kLength ? splat : 0);
      }
    }
    for (std::uint32_t lane = 0; lane < kTries * lanes; ++lane) shared_out.push_back(0);  // the element before, never written
    const NodeHandle shared_body[] = {
        let_i(), let_at, node::store("shared", at, expr::cast(element, expr::binary(BinOp::Add, i(), lit(1)))),
        node::store("out", i(), expr::load("shared", at)),
        node::store("out", expr::binary(BinOp::Add, i(), expr::buf_len("indices")), expr::load("shared", lit(3)))};
    cases.push_back({fmt::format("workgroup_{}_out_of_bounds", name(element)),
                     ir::make_program({BufferDecl::read("indices", 0, DataType::U32), BufferDecl::workgroup("shared", kLength, element),
                                       BufferDecl::read_write("out", 2, element)},
                                      {1, 1, 1}, shared_body),
                     {kIndices, Words(2 * kTries * lanes, 0x55)},
                     {kIndices, shared_out},
                     {kTries, 1, 1}});
  }

  // Literal indices: what a compiler may see through.
  std::vector<NodeHandle> body;
  Words read_back;
  for (std::uint32_t index : kIndices) {
    body.push_back(node::store("out", lit(static_cast<std::uint32_t>(read_back.size())), expr::load("in", lit(index))));
    body.push_back(node::store("data", lit(index), lit(index ^ 0xFF)));
    read_back.push_back(index < kLength ? 0x1000 + index : 0);
  }
  const Words data = filled(kLength, 1);
  Words written = data;
  written[0] = 0xFF;
  written[5] = 5 ^ 0xFF;
  cases.push_back({"literal_indices_out_of_bounds",
                   ir::make_program({BufferDecl::read("in", 0, DataType::U32), BufferDecl::read_write("data", 1, DataType::U32),
                                     BufferDecl::read_write("out", 2, DataType::U32)},
                                    {1, 1, 1}, body),
                   {data, data, Words(kTries)},
                   {data, written, read_back},
                   {1, 1, 1}});

  // Empty arrays have length 0, and no element.
  const NodeHandle empty_body[] = {node::store("out", lit(0), expr::buf_len("empty")), node::store("out", lit(1), expr::buf_len("none")),
                                   node::store("out", lit(2), expr::load("empty", lit(0))), node::store("none", lit(0), lit(7)),
                                   node::store("out", lit(3), expr::buf_len("out"))};
  cases.push_back({"empty_arrays",
                   ir::make_program({BufferDecl::read("empty", 0xFFFFFFFF, DataType::U32), BufferDecl::read_write("none", 5, DataType::U32),
                                     BufferDecl::read_write("out", 0, DataType::U32)},
                                    {1, 1, 1}, empty_body),
                   {{}, {}, Words(4, 9)},
                   {{}, {}, {0, 0, 0, 4}},
                   {1, 1, 1}});
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
  const Words guard(64, 0xABABABAB);
  const Words data = filled(kLength, 1);
  for (const Row& row : rows) {
    Words after = data;
    after[0] = row.after_first;
    after[5] = row.after_last;
    Words old(kTries, 0);
    old[0] = 0x1000;
    old[1] = 0x1005;
    const ExprHandle expected = row.op == AtomicOp::CompareExchange ? lit(0x1000) : ExprHandle();
    const NodeHandle body[] = {
        let_i(), node::if_(expr::binary(BinOp::Lt, i(), expr::buf_len("indices")),
                           {node::store("out", i(), expr::atomic(row.op, "data", expr::load("indices", i()), expected, lit(0x1003)))})};
    // Eight lanes a workgroup: in bounds, out of bounds and mixed.
    cases.push_back({fmt::format("{}_out_of_bounds", info(row.op).text),
                     ir::make_program({BufferDecl::read_write("before", 7, DataType::U32), BufferDecl::read("indices", 0, DataType::U32),
                                       BufferDecl::read_write("data", 1, DataType::U32), BufferDecl::read_write("after", 6, DataType::U32),
                                       BufferDecl::read_write("out", 2, DataType::U32)},
                                      {8, 1, 1}, body),
                     {guard, kIndices, data, guard, Words(kTries, 0x55)},
                     {guard, kIndices, after, guard, old},
                     {(kTries + 7) / 8, 1, 1}});
  }
  // Every invocation adds: none is lost, in one place and over workgroups.
  const NodeHandle body[] = {node::let("old", expr::atomic(AtomicOp::Add, "count", lit(0), {}, lit(1))),
                             // Each old value comes once, so this marks every element once.
                             node::store("seen", expr::var("old"), lit(1))};
  cases.push_back({"atomic_counter",
                   ir::make_program({BufferDecl::read_write("count", 0, DataType::U32), BufferDecl::read_write("seen", 1, DataType::U32)},
                                    {64, 1, 1}, body),
                   {{0}, Words(1024)},
                   {{1024}, Words(1024, 1)},
                   {16, 1, 1}});
}

void add_values(Cases& cases) {
  // Lane and Pack, and Select over several lanes.
  const ExprHandle wide = expr::load("in", i());
  const NodeHandle body[] = {
      let_i(), node::let("v", wide),
      node::let("turned", expr::pack(DataType::Vec4U32, {expr::lane(expr::var("v"), 3), expr::lane(expr::var("v"), 2),
                                                         expr::lane(expr::var("v"), 1), expr::lane(expr::var("v"), 0)})),
      node::assign("v", expr::select(expr::binary(BinOp::BitAnd, i(), lit(1)), expr::var("turned"), expr::var("v"))),
      // Reads lanes that it writes.
      node::assign("v", expr::pack(DataType::Vec4U32, {expr::lane(expr::var("v"), 1), expr::lane(expr::var("v"), 0),
                                                       expr::lane(expr::var("v"), 3), expr::lane(expr::var("v"), 2)})),
      node::store("out", i(), expr::var("v")),
      node::store("pairs", i(), expr::pack(DataType::U64, {expr::lane(expr::var("v"), 0), expr::lane(expr::var("v"), 3)}))};
  cases.push_back({"lanes",
                   ir::make_program({BufferDecl::read("in", 0, DataType::Vec4U32), BufferDecl::read_write("out", 1, DataType::Vec4U32),
                                     BufferDecl::read_write("pairs", 2, DataType::U64)},
                                    {2, 1, 1}, body),
                   {{1, 2, 3, 4, 5, 6, 7, 8}, Words(8), Words(4)},
                   {{1, 2, 3, 4, 5, 6, 7, 8}, {2, 1, 4, 3, 7, 8, 5, 6}, {2, 3, 7, 6}},
                   {1, 1, 1}});

  // Ids in three dimensions: workgroups of 2 x 3 x 2, a grid of 2 x 2 x 2.
  const auto flat = [](auto id, std::uint32_t x, std::uint32_t y) {
    return expr::binary(BinOp::Add, id(0),
                        expr::binary(BinOp::Mul, lit(x), expr::binary(BinOp::Add, id(1), expr::binary(BinOp::Mul, lit(y), id(2)))));
  };
  const NodeHandle ids_body[] = {node::let("at", flat(expr::gid, 4, 6)),
                                 node::store("workgroups", expr::var("at"), flat(expr::wid, 10, 10)),
                                 node::store("locals", expr::var("at"), flat(expr::lid, 10, 10))};
  Words workgroups, locals;
  for (std::uint32_t z = 0; z < 4; ++z) {
    for (std::uint32_t y = 0; y < 6; ++y) {
      for (std::uint32_t x = 0; x < 4; ++x) {
        workgroups.push_back(x / 2 + 10 * (y / 3) + 100 * (z / 2));
        locals.push_back(x % 2 + 10 * (y % 3) + 100 * (z % 2));
      }
    }
  }
  cases.push_back(
      {"grid_ids",
       ir::make_program({BufferDecl::read_write("workgroups", 0, DataType::U32), BufferDecl::read_write("locals", 1, DataType::U32)},
                        {2, 3, 2}, ids_body),
       {Words(workgroups.size()), Words(locals.size())},
       {workgroups, locals},
       {2, 2, 2}});

  // Operations: one with a loop, called twice, and with an effect to the left of the call and in its argument.
  const NodeHandle call_body[] = {
      let_i(), node::let("a", expr::load("in", i())),
      node::store("out", i(),
                  expr::call("primitive.u64.div", {expr::call("primitive.u64.mul", {expr::var("a"), expr::u64(10)}),
                                                   expr::call("primitive.u64.mod", {expr::var("a"), expr::u64(1000)})}))};
  const std::uint64_t values[] = {1, 999, 1234567890123u, 0, 1000, 0x1999999999999999u};
  Words in, out;
  for (std::uint64_t value : values) {
    const std::uint64_t divisor = value % 1000;
    const std::uint64_t quotient = divisor == 0 ? 0 : value * 10 / divisor;
    for (std::uint64_t word : {value, value >> 32}) in.push_back(static_cast<std::uint32_t>(word));
    for (std::uint64_t word : {quotient, quotient >> 32}) out.push_back(static_cast<std::uint32_t>(word));
  }
  cases.push_back(
      {"calls",
       ir::make_program({BufferDecl::read("in", 0, DataType::U64), BufferDecl::read_write("out", 1, DataType::U64)}, {2, 1, 1}, call_body),
       {in, Words(out.size())},
       {in, out},
       {3, 1, 1}});

  // An atomic in an argument fires once, and effects to the left of a call come before it.
  const ExprHandle ticket = expr::atomic(AtomicOp::Add, "count", lit(0), {}, lit(1));
  const NodeHandle effect_body[] = {
      node::store("out", lit(0),
                  expr::binary(BinOp::Add, expr::binary(BinOp::Mul, expr::load("count", lit(0)), lit(1000)),
                               expr::call("primitive.math.mul", {ticket, expr::binary(BinOp::Add, ticket, expr::load("count", lit(0)))}))),
      node::store("out", lit(1), expr::load("count", lit(0)))};
  // 7 is loaded first; the ticket is 7, once; the second load sees 8: 7 * 1000 + 7 * (7 + 8).
  cases.push_back({"effects_left_of_a_call",
                   ir::make_program({BufferDecl::read_write("count", 0, DataType::U32), BufferDecl::read_write("out", 1, DataType::U32)},
                                    {1, 1, 1}, effect_body),
                   {{7}, {0, 0}},
                   {{8}, {7 * 1000 + 7 * 15, 8}},
                   {1, 1, 1}});
}

void add_control_flow(Cases& cases) {
  const auto add_to = [](const char* name, ExprHandle value) {
    return node::assign(name, expr::binary(BinOp::Add, expr::var(name), std::move(value)));
  };
  // Bounds are evaluated once, at entry; from >= to runs no round; the variable is read in the body.
  const NodeHandle loop_body[] = {
      node::let("sum", lit(0)),
      node::let("to", lit(5)),
      node::loop("k", lit(2), expr::var("to"), {add_to("sum", expr::var("k")), node::assign("to", lit(100))}),
      node::store("out", lit(0), expr::var("sum")),                                                   // 2 + 3 + 4
      node::loop("k", lit(7), lit(7), {add_to("sum", lit(1000))}),                                    // no round
      node::loop("k", lit(0xFFFFFFFF), lit(3), {add_to("sum", lit(1000))}),                           // no round: unsigned
      node::loop("k", lit(0xFFFFFFFD), lit(0xFFFFFFFF), {add_to("sum", lit(1))}),                     // two rounds
      node::store("out", lit(1), expr::var("sum")),                                                   // 11
      node::if_(lit(2), {node::store("out", lit(2), lit(1))}, {node::store("out", lit(2), lit(2))}),  // non-zero is true
      node::if_(expr::boolean(false), {node::store("out", lit(3), lit(1))}, {node::store("out", lit(3), lit(2))}),
      // A fresh variable in each round.
      node::loop("k", lit(0), lit(3),
                 {node::let("fresh", lit(0)), add_to("fresh", expr::var("k")), node::store("out", lit(4), expr::var("fresh"))}),
  };
  cases.push_back({"loops_and_branches",
                   ir::make_program({BufferDecl::read_write("out", 0, DataType::U32)}, {1, 1, 1}, loop_body),
                   {Words(5)},
                   {{9, 11, 1, 2, 2}},
                   {1, 1, 1}});

  // Return ends this invocation only, also inside loops.
  const NodeHandle return_body[] = {
      let_i(), node::store("out", i(), lit(100)),
      node::loop("k", lit(0), lit(10),
                 {node::if_(expr::binary(BinOp::Eq, expr::var("k"), i()), {node::return_()}), node::store("out", i(), expr::var("k"))}),
      node::store("out", i(), lit(77))};
  cases.push_back({"return_inside_a_loop",
                   ir::make_program({BufferDecl::read_write("out", 0, DataType::U32)}, {16, 1, 1}, return_body),
                   {Words(16)},
                   {{100, 0, 1, 2, 3, 4, 5, 6, 7, 8, 77, 77, 77, 77, 77, 77}},
                   {1, 1, 1}});

  // The sum of a workgroup through its memory, halving the distance at each barrier; memory is zero in each of two workgroups.
  const ExprHandle me = expr::lid(0);
  const auto shared_at = [](ExprHandle index) { return expr::load("shared", std::move(index)); };
  const NodeHandle reduction_body[] = {
      node::store("clean", expr::gid(0), shared_at(me)),
      node::barrier(),
      node::store("shared", me, expr::load("in", expr::gid(0))),
      node::barrier(),
      node::let("distance", lit(32)),
      node::loop("round", lit(0), lit(6),
                 {node::if_(expr::binary(BinOp::Lt, me, expr::var("distance")),
                            {node::store(
                                "shared", me,
                                expr::binary(BinOp::Add, shared_at(me), shared_at(expr::binary(BinOp::Add, me, expr::var("distance")))))}),
                  node::barrier(), node::assign("distance", expr::binary(BinOp::Shr, expr::var("distance"), lit(1)))}),
      node::if_(expr::binary(BinOp::Eq, me, lit(0)), {node::store("out", expr::wid(0), shared_at(lit(0)))})};
  Words in(128);
  for (std::uint32_t k = 0; k < 128; ++k) in[k] = k;
  cases.push_back({"reduction_in_workgroup_memory",
                   ir::make_program({BufferDecl::read("in", 0, DataType::U32), BufferDecl::workgroup("shared", 64, DataType::U32),
                                     BufferDecl::read_write("out", 1, DataType::U32), BufferDecl::read_write("clean", 2, DataType::U32)},
                                    {64, 1, 1}, reduction_body),
                   {in, Words(2), Words(128, 5)},
                   {in, {63 * 64 / 2, 127 * 128 / 2 - 63 * 64 / 2}, Words(128, 0)},
                   {2, 1, 1}});

  // Messages around a ring, through storage and through workgroup memory, a barrier between any write and its reads.
  const ExprHandle left = expr::binary(BinOp::Mod, expr::binary(BinOp::Add, me, lit(15)), lit(16));
  const NodeHandle ring_body[] = {
      node::let("value", me),
      node::loop(
          "round", lit(0), lit(40),
          {node::store("mail", expr::gid(0), expr::var("value")), node::store("shared", me, expr::var("value")), node::barrier(),
           node::assign("value",
                        expr::binary(BinOp::BitAnd,
                                     expr::load("mail", expr::binary(BinOp::Add, expr::binary(BinOp::Mul, expr::wid(0), lit(16)), left)),
                                     expr::load("shared", left))),
           node::barrier()}),
      node::store("out", expr::gid(0), expr::var("value"))};
  Words passed;
  for (std::uint32_t k = 0; k < 32; ++k) passed.push_back((k % 16 + 16 - 40 % 16) % 16);
  Words mail;  // the last round's messages: one round behind
  for (std::uint32_t k = 0; k < 32; ++k) mail.push_back((k % 16 + 16 - 39 % 16) % 16);
  cases.push_back({"messages_around_a_ring",
                   ir::make_program({BufferDecl::read_write("mail", 0, DataType::U32), BufferDecl::workgroup("shared", 16, DataType::U32),
                                     BufferDecl::read_write("out", 1, DataType::U32)},
                                    {16, 1, 1}, ring_body),
                   {Words(32), Words(32)},
                   {mail, passed},
                   {2, 1, 1}});
}

}  // namespace

const std::vector<ConformanceCase>& conformance_cases() {
  static const Cases cases = [] {
    Cases all;
    add_operators(all);
    add_casts(all);
    add_bounds(all);
    add_atomics(all);
    add_values(all);
    add_control_flow(all);
    return all;
  }();
  return cases;
}

}  // namespace vyre::test
