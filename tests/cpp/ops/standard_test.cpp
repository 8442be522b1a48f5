// Every operation of the standard library: its body keeps the rules, its examples and laws hold when it is called in a program.
#include "vyre/ops/standard.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <limits>
#include <numeric>
#include <random>

#include "support/run_program.hpp"
#include "vyre/ir/data_type.hpp"
#include "vyre/ir/handles/handle.hpp"
#include "vyre/ir/handles/resolve.hpp"

namespace vyre::test {
namespace {

using ir::BufferDecl;
using ir::DataType;
using ir::OpLaw;
using ir::Value;
using Spec = ir::OpTable::Spec;

std::uint32_t pattern(std::mt19937& random) {
  // Edge values half of the time: carries, signs and zeros hide there.
  constexpr std::uint32_t kEdges[] = {0, 1, 2, 31, 32, 33, 63, 64, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFFFE, 0xFFFFFFFF};
  const auto word = static_cast<std::uint32_t>(random());
  switch (random() % 4) {
    case 0:
    case 1:
      return kEdges[word % std::size(kEdges)];
    case 2:
      return word >> (random() % 32);
    default:
      return word;
  }
}

Value random_value(DataType type, std::mt19937& random) {
  Value value;
  for (std::uint32_t lane = 0; lane < ir::lanes(type); ++lane) value.lanes[lane] = pattern(random);
  if (type == DataType::Bool) value.lanes[0] &= 1;
  return value;
}

// Calls `op` once for each row of arguments, in one program: out[i] = op(in0[i], in1[i], ...).
std::vector<Value> call(const Spec& op, const std::vector<std::vector<Value>>& rows) {
  std::vector<BufferDecl> buffers;
  std::vector<ir::ExprHandle> arguments;
  std::vector<Words> arrays;
  const auto add = [&](BufferDecl decl) { buffers.push_back(std::move(decl)); };
  for (std::uint32_t k = 0; k < op->function().signature.inputs.size(); ++k) {
    const DataType type = op->function().signature.inputs[k];
    const std::string name = fmt::format("in{}", k);
    add(BufferDecl::read(name, k, type));
    arguments.push_back(ir::expr::load(name, ir::expr::gid(0)));
    Words words;
    for (const std::vector<Value>& row : rows) words.insert(words.end(), row[k].lanes.begin(), row[k].lanes.begin() + ir::lanes(type));
    arrays.push_back(std::move(words));
  }
  const std::uint32_t lanes = ir::lanes(op->function().signature.output);
  add(BufferDecl::read_write("out", 99, op->function().signature.output));
  arrays.emplace_back(rows.size() * lanes);
  const ir::NodeHandle body[] = {ir::node::store("out", ir::expr::gid(0), ir::expr::call(op->id, arguments))};
  const Words out =
      run_reference(ir::make_program(buffers, {1, 1, 1}, body), arrays, {static_cast<std::uint32_t>(rows.size()), 1, 1}).back();
  std::vector<Value> values(rows.size());
  for (std::size_t row = 0; row < rows.size(); ++row) {
    for (std::uint32_t lane = 0; lane < lanes; ++lane) values[row].lanes[lane] = out[row * lanes + lane];
  }
  return values;
}

// A type of its own, so that test listings name the operation and not the bytes of a pointer.
struct Op {
  Spec spec;
};
void PrintTo(const Op& op, std::ostream* out) { *out << op.spec->id; }

std::vector<Op> all_ops() {
  std::vector<Op> ops;
  for (const Spec& spec : ops::standard_ops().all()) ops.push_back({spec});
  return ops;
}

class StandardOp : public testing::TestWithParam<Op> {};

TEST_P(StandardOp, has_a_valid_body_and_says_what_it_does) {
  const Spec& op = GetParam().spec;
  const Diagnostics found = validate::validate_op(*op, ops::standard_ops());
  EXPECT_TRUE(found.empty()) << to_string(found.front());
  EXPECT_FALSE(op->summary.empty());
  EXPECT_EQ(op->summary.back(), '.');
  EXPECT_FALSE(op->function().examples.empty());
}

TEST_P(StandardOp, gives_what_its_examples_say) {
  const Spec& op = GetParam().spec;
  for (const ir::OpExample& example : op->function().examples) {
    ASSERT_EQ(example.inputs.size(), op->function().signature.inputs.size());
    EXPECT_EQ(call(op, {example.inputs}).front(), example.output);
  }
}

TEST_P(StandardOp, keeps_its_laws) {
  const Spec& op = GetParam().spec;
  constexpr unsigned kSeed = 4711;
  std::mt19937 random(kSeed);
  constexpr int kRows = 200;
  for (OpLaw law : op->function().laws) {
    std::vector<Value> a, b, c;
    for (int row = 0; row < kRows; ++row) {
      for (std::vector<Value>* values : {&a, &b, &c}) values->push_back(random_value(op->function().signature.inputs[0], random));
    }
    const auto unary = [&](const std::vector<Value>& x) {
      std::vector<std::vector<Value>> rows;
      for (const Value& value : x) rows.push_back({value});
      return call(op, rows);
    };
    const auto binary = [&](const std::vector<Value>& x, const std::vector<Value>& y) {
      std::vector<std::vector<Value>> rows;
      for (std::size_t row = 0; row < x.size(); ++row) rows.push_back({x[row], y[row]});
      return call(op, rows);
    };
    switch (law) {
      case OpLaw::Commutative:
        EXPECT_EQ(binary(a, b), binary(b, a)) << "seed " << kSeed;
        break;
      case OpLaw::Associative:
        EXPECT_EQ(binary(binary(a, b), c), binary(a, binary(b, c))) << "seed " << kSeed;
        break;
      case OpLaw::Idempotent:
        EXPECT_EQ(binary(a, a), a) << "seed " << kSeed;
        break;
      case OpLaw::Involution:
        EXPECT_EQ(unary(unary(a)), a) << "seed " << kSeed;
        break;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, StandardOp, testing::ValuesIn(all_ops()), [](const auto& param) {
  std::string name = param.param.spec->id;
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
});

// The u64 family against the compiler's own 64-bit arithmetic.
struct Native {
  const char* name;
  std::uint64_t (*value)(std::uint64_t a, std::uint64_t b);
};

void PrintTo(const Native& native, std::ostream* out) { *out << native.name; }

class U64 : public testing::TestWithParam<Native> {};

TEST_P(U64, agrees_with_native_arithmetic) {
  const Spec op = ops::standard_ops().find(std::string("primitive.u64.") + GetParam().name);
  ASSERT_TRUE(op);
  constexpr unsigned kSeed = 99;
  std::mt19937 random(kSeed);
  std::vector<std::vector<Value>> rows;
  std::vector<Value> expected;
  const auto wide = [](const Value& value) { return value.lanes[0] | std::uint64_t{value.lanes[1]} << 32; };
  for (int row = 0; row < 2000; ++row) {
    std::vector<Value> inputs;
    for (DataType type : op->function().signature.inputs) inputs.push_back(random_value(type, random));
    const std::uint64_t result = GetParam().value(wide(inputs.front()), wide(inputs.back()));
    Value value = ir::scalar(static_cast<std::uint32_t>(result));
    if (op->function().signature.output == DataType::U64) value.lanes[1] = static_cast<std::uint32_t>(result >> 32);
    rows.push_back(std::move(inputs));
    expected.push_back(value);
  }
  EXPECT_EQ(call(op, rows), expected) << "seed " << kSeed;
}

using u64 = std::uint64_t;
using s64 = std::int64_t;
__extension__ using u128 = unsigned __int128;
__extension__ using s128 = __int128;
u64 limited(s128 value) {
  constexpr s64 kLeast = std::numeric_limits<s64>::min(), kMost = std::numeric_limits<s64>::max();
  return static_cast<u64>(value < kLeast ? kLeast : value > kMost ? kMost : static_cast<s64>(value));
}
// clang-format off
const Native kNative[] = {
    {"add",          [](u64 a, u64 b) { return a + b; }},
    {"sub",          [](u64 a, u64 b) { return a - b; }},
    {"mul",          [](u64 a, u64 b) { return a * b; }},
    {"mul_u32",      [](u64 a, u64 b) { return a * b; }},
    {"div",          [](u64 a, u64 b) { return b == 0 ? 0 : a / b; }},
    {"mod",          [](u64 a, u64 b) { return b == 0 ? 0 : a % b; }},
    {"negate",       [](u64 a, u64) { return u64{0} - a; }},
    {"abs_diff",     [](u64 a, u64 b) { return a < b ? b - a : a - b; }},
    {"min",          [](u64 a, u64 b) { return std::min(a, b); }},
    {"max",          [](u64 a, u64 b) { return std::max(a, b); }},
    {"and",          [](u64 a, u64 b) { return a & b; }},
    {"or",           [](u64 a, u64 b) { return a | b; }},
    {"xor",          [](u64 a, u64 b) { return a ^ b; }},
    {"not",          [](u64 a, u64) { return ~a; }},
    {"shl",          [](u64 a, u64 b) { return a << (b & 63); }},
    {"shr",          [](u64 a, u64 b) { return a >> (b & 63); }},
    {"rotl",         [](u64 a, u64 b) { return std::rotl(a, static_cast<int>(b & 63)); }},
    {"rotr",         [](u64 a, u64 b) { return std::rotr(a, static_cast<int>(b & 63)); }},
    {"popcount",     [](u64 a, u64) { return u64(std::popcount(a)); }},
    {"clz",          [](u64 a, u64) { return u64(std::countl_zero(a)); }},
    {"ctz",          [](u64 a, u64) { return u64(std::countr_zero(a)); }},
    {"reverse_bits", [](u64 a, u64) { u64 r = 0; for (int k = 0; k < 64; ++k) r |= (a >> k & 1) << (63 - k); return r; }},
    {"eq",           [](u64 a, u64 b) { return u64(a == b); }},
    {"ne",           [](u64 a, u64 b) { return u64(a != b); }},
    {"lt",           [](u64 a, u64 b) { return u64(a < b); }},
    {"gt",           [](u64 a, u64 b) { return u64(a > b); }},
    {"le",           [](u64 a, u64 b) { return u64(a <= b); }},
    {"ge",           [](u64 a, u64 b) { return u64(a >= b); }},
    {"is_zero",      [](u64 a, u64) { return u64(a == 0); }},
    {"add_saturating",  [](u64 a, u64 b) { return a + b < a ? ~u64{0} : a + b; }},
    {"sub_saturating",  [](u64 a, u64 b) { return a < b ? 0 : a - b; }},
    {"mulhi",           [](u64 a, u64 b) { return u64(u128(a) * b >> 64); }},
    {"hadd",            [](u64 a, u64 b) { return u64((u128(a) + b) >> 1); }},
    {"rhadd",           [](u64 a, u64 b) { return u64((u128(a) + b + 1) >> 1); }},
    {"and_not",         [](u64 a, u64 b) { return a & ~b; }},
    {"reverse_bytes",   [](u64 a, u64) { return u64(__builtin_bswap64(a)); }},
    {"first_leading_bit",  [](u64 a, u64) { return u64(63 - std::countl_zero(a)); }},
    {"first_trailing_bit", [](u64 a, u64) { return a == 0 ? ~u64{0} : u64(std::countr_zero(a)); }},
    {"gcd",             [](u64 a, u64 b) { return std::gcd(a, b); }},
    {"lcm",             [](u64 a, u64 b) { return a == 0 || b == 0 ? 0 : a / std::gcd(a, b) * b; }},
    {"sdiv",            [](u64 a, u64 b) { return b == 0 ? 0 : u64(s128(s64(a)) / s64(b)); }},
    {"smod",            [](u64 a, u64 b) { return b == 0 ? 0 : u64(s128(s64(a)) % s64(b)); }},
    {"sshr",            [](u64 a, u64 b) { return u64(s64(a) >> (b & 63)); }},
    {"slt",             [](u64 a, u64 b) { return u64(s64(a) < s64(b)); }},
    {"sgt",             [](u64 a, u64 b) { return u64(s64(a) > s64(b)); }},
    {"sle",             [](u64 a, u64 b) { return u64(s64(a) <= s64(b)); }},
    {"sge",             [](u64 a, u64 b) { return u64(s64(a) >= s64(b)); }},
    {"smin",            [](u64 a, u64 b) { return u64(std::min(s64(a), s64(b))); }},
    {"smax",            [](u64 a, u64 b) { return u64(std::max(s64(a), s64(b))); }},
    {"sabs",            [](u64 a, u64) { return s64(a) < 0 ? u64{0} - a : a; }},
    {"sign",            [](u64 a, u64) { return u64(s64{s64(a) > 0} - s64{s64(a) < 0}); }},
    {"sadd_saturating", [](u64 a, u64 b) { return limited(s128(s64(a)) + s64(b)); }},
    {"ssub_saturating", [](u64 a, u64 b) { return limited(s128(s64(a)) - s64(b)); }},
    {"smulhi",          [](u64 a, u64 b) { return u64(s128(s64(a)) * s64(b) >> 64); }},
    {"shadd",           [](u64 a, u64 b) { return u64((s128(s64(a)) + s64(b)) >> 1); }},
    {"srhadd",          [](u64 a, u64 b) { return u64((s128(s64(a)) + s64(b) + 1) >> 1); }},
    {"sign_extend",     [](u64 a, u64 b) { return b == 0 ? 0 : b >= 64 ? a : u64(s64(a << (64 - b)) >> (64 - b)); }},
    {"sfirst_leading_bit", [](u64 a, u64) { return u64(63 - std::countl_zero(s64(a) < 0 ? ~a : a)); }},
};
// clang-format on
INSTANTIATE_TEST_SUITE_P(All, U64, testing::ValuesIn(kNative), [](const auto& param) { return std::string(param.param.name); });

// The model in Python speaks about those with more arguments.
TEST(StandardOps, of_the_u64_family_with_two_arguments_at_most_are_all_compared) {
  std::size_t count = 0;
  for (const Spec& op : ops::standard_ops().all()) {
    count += op->id.starts_with("primitive.u64.") && op->function().signature.inputs.size() <= 2;
  }
  EXPECT_EQ(count, std::size(kNative));
}

// Not named beside an operator: worked out here.
TEST(StandardOps, saturate_clamp_and_take_distances_on_random_values) {
  constexpr unsigned kSeed = 7;
  std::mt19937 random(kSeed);
  std::vector<std::vector<Value>> pairs, triples;
  std::vector<Value> sums, differences, clamped;
  for (int row = 0; row < 500; ++row) {
    const std::uint32_t a = pattern(random), b = pattern(random), c = pattern(random);
    pairs.push_back({ir::scalar(a), ir::scalar(b)});
    triples.push_back({ir::scalar(a), ir::scalar(b), ir::scalar(c)});
    sums.push_back(ir::scalar(static_cast<std::uint32_t>(std::min<u64>(u64{a} + b, 0xFFFFFFFF))));
    differences.push_back(ir::scalar(a > b ? a - b : 0));
    clamped.push_back(ir::scalar(b > c ? c : std::clamp(a, b, c)));
  }
  EXPECT_EQ(call(ops::standard_ops().find("primitive.math.add_saturating"), pairs), sums);
  EXPECT_EQ(call(ops::standard_ops().find("primitive.math.sub_saturating"), pairs), differences);
  EXPECT_EQ(call(ops::standard_ops().find("primitive.math.clamp"), triples), clamped);
}

}  // namespace
}  // namespace vyre::test
