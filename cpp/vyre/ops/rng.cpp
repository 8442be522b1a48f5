// primitive.rng.*: counter-based random numbers after Salmon, Moraes, Dror and Shaw, "Parallel Random Numbers: As Easy as 1, 2, 3"
// (SC 2011). The examples are the lines of `kat_vectors` of their library Random123 for 10 and 20 rounds.
#include <array>

#include "vyre/ir/ops.hpp"
#include "vyre/ops/body.hpp"
#include "vyre/ops/families.hpp"

namespace vyre::ops {
namespace {

using ir::BinOp;
using ir::DataType;
using ir::expr::binary;
using ir::expr::lane;
using ir::expr::pack;
using Expr = ir::ExprHandle;

Expr sum(const Expr& a, const Expr& b) { return binary(BinOp::Add, a, b); }
Expr exclusive_or(const Expr& a, const Expr& b) { return binary(BinOp::BitXor, a, b); }

Expr philox(Body& body) {
  constexpr std::uint32_t kFactors[] = {0xD2511F53, 0xCD9E8D57}, kSteps[] = {0x9E3779B9, 0xBB67AE85};
  std::array<Expr, 4> counter;
  for (std::uint32_t k = 0; k < 4; ++k) counter[k] = lane(body.parameter(0), k);
  for (std::uint32_t round = 0; round < 10; ++round) {
    const auto key = [&](std::uint32_t k) {
      const Expr first = lane(body.parameter(1), k);
      return round == 0 ? first : sum(first, lit(round * kSteps[k]));
    };
    const auto product = [&](BinOp half, std::size_t k) { return binary(half, counter[2 * k], lit(kFactors[k])); };
    counter = {exclusive_or(exclusive_or(product(BinOp::MulHigh, 1), counter[1]), key(0)), product(BinOp::Mul, 1),
               exclusive_or(exclusive_or(product(BinOp::MulHigh, 0), counter[3]), key(1)), product(BinOp::Mul, 0)};
  }
  return pack(DataType::Vec4U32, {counter[0], counter[1], counter[2], counter[3]});
}

Expr threefry(Body& body) {
  constexpr std::uint32_t kRotations[] = {13, 15, 26, 6, 17, 29, 16, 24};
  constexpr std::uint32_t kParity = 0x1BD11BDA;
  const Expr first = lane(body.parameter(1), 0), second = lane(body.parameter(1), 1);
  const std::array<Expr, 3> key{first, second, exclusive_or(exclusive_or(first, second), lit(kParity))};
  Expr x = sum(lane(body.parameter(0), 0), key[0]), y = sum(lane(body.parameter(0), 1), key[1]);
  for (std::uint32_t round = 0; round < 20; ++round) {
    x = sum(x, y);
    y = exclusive_or(binary(BinOp::RotateLeft, y, lit(kRotations[round % 8])), x);
    if (round % 4 != 3) continue;
    const std::uint32_t step = round / 4 + 1;
    x = sum(x, key[step % 3]);
    y = sum(y, sum(key[(step + 1) % 3], lit(step)));
  }
  return pack(DataType::Vec2U32, {x, y});
}

}  // namespace

std::vector<ir::OpTable::Spec> rng_ops() {
  constexpr std::uint32_t kOnes = 0xFFFFFFFF;
  return {
      make_op({"primitive.rng.philox4x32_10",
               {{DataType::Vec4U32, DataType::Vec2U32}, DataType::Vec4U32},
               "Four random words of a counter and a key: Philox 4x32, 10 rounds.",
               {},
               {{{vec4(0, 0, 0, 0), vec2(0, 0)}, vec4(0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)},
                {{vec4(kOnes, kOnes, kOnes, kOnes), vec2(kOnes, kOnes)}, vec4(0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)},
                {{vec4(0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344), vec2(0xA4093822, 0x299F31D0)},
                 vec4(0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1)}}},
              philox),
      make_op({"primitive.rng.threefry2x32_20",
               {{DataType::Vec2U32, DataType::Vec2U32}, DataType::Vec2U32},
               "Two random words of a counter and a key: Threefry 2x32, 20 rounds.",
               {},
               {{{vec2(0, 0), vec2(0, 0)}, vec2(0x6B200159, 0x99BA4EFE)},
                {{vec2(kOnes, kOnes), vec2(kOnes, kOnes)}, vec2(0x1CB996FC, 0xBB002BE7)},
                {{vec2(0x243F6A88, 0x85A308D3), vec2(0x13198A2E, 0x03707344)}, vec2(0xC4923A9C, 0x483DF7A0)}}},
              threefry),
  };
}

}  // namespace vyre::ops
