// V010 against the reference, on random programs: what validation accepts never leaves a barrier to a part of a workgroup.
#include <gtest/gtest.h>

#include <array>
#include <random>

#include "../support/found.hpp"
#include "../support/programs/programs.hpp"
#include "vyre/base/error.hpp"
#include "vyre/ir/ops.hpp"
#include "vyre/ir/text/print.hpp"
#include "vyre/run/reference/reference.hpp"

namespace vyre {
namespace {

using namespace sample;

class Generator {
 public:
  explicit Generator(std::uint32_t seed) : random_(seed) {}

  ir::Program program() {
    Sample sample;
    sample.in("a").out("o").size(4);
    for (const char* name : kVariables) sample.add(let(name, below(4) == 0 ? gid(0) : u32(below(3))));
    return sample.add(list(3)).add(barrier()).make();
  }

 private:
  static constexpr const char* kVariables[] = {"x", "y", "z"};

  std::uint32_t below(std::uint32_t count) { return std::uniform_int_distribution<std::uint32_t>(0, count - 1)(random_); }

  // Mostly uniform, so that many programs are valid.
  ExprHandle value(int depth) {
    switch (depth == 0 ? below(6) : below(10)) {
      case 0:
        return below(3) == 0 ? gid(0) : wid(0);
      case 1:
        return below(3) == 0 ? load("o", u32(below(4))) : load("a", u32(below(4)));
      case 2:
      case 3:
        return var(kVariables[below(3)]);
      case 4:
      case 5:
        return u32(below(3));
      case 6:
        return load("a", value(depth - 1));
      case 7:
        return select(value(depth - 1), value(depth - 1), value(depth - 1));
      default:
        return bin(below(2) == 0 ? BinOp::BitXor : BinOp::Lt, value(depth - 1), value(depth - 1));
    }
  }

  List list(int depth) {
    List nodes;
    for (std::uint32_t k = 1 + below(4); k > 0; --k) nodes.push_back(statement(depth));
    if (depth < 3 && below(8) == 0) nodes.push_back(return_());
    return nodes;
  }

  NodeHandle statement(int depth) {
    switch (depth == 0 ? below(4) : below(8)) {
      case 0:
        return barrier();
      case 1:
        return store("o", gid(0), value(1));
      case 2:
      case 3:
        return assign(kVariables[below(3)], value(1));
      case 4:
      case 5:
        return if_(value(1), list(depth - 1), below(2) == 0 ? list(depth - 1) : List{});
      case 6:
        return loop("k" + std::to_string(loops_++), u32(0), bin(BinOp::Min, u32(3), value(1)), list(depth - 1));
      default:
        return block(list(depth - 1));
    }
  }

  std::mt19937 random_;
  int loops_ = 0;
};

TEST(V010, accepts_only_what_never_splits_a_workgroup) {
  const std::uint32_t first_seed = std::random_device()();
  const auto reference = run::make_reference_backend();
  int accepted = 0, rejected = 0;
  for (std::uint32_t seed = first_seed; seed != first_seed + 3000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const ir::Program program = Generator(seed).program();
    const validate::Verdict verdict = validate::validate(program, {});
    if (!verdict.program) {
      ++rejected;
      continue;
    }
    ++accepted;
    std::array<std::uint32_t, 4> a{0, 1, 0, 5};
    std::array<std::uint32_t, 8> o{1, 0, 3, 0, 1, 1, 0, 2};
    const run::BufferView buffers[] = {{std::as_writable_bytes(std::span(a)), 4}, {std::as_writable_bytes(std::span(o)), 8}};
    try {
      reference->prepare(*verdict.program, std::nullopt)->run(buffers, {2, 1, 1}, {});
    } catch (const DivergentBarrierError& error) {
      ADD_FAILURE() << error.what() << "\n" << ir::to_text(program);
    }
  }
  EXPECT_GT(accepted, 100);
  EXPECT_GT(rejected, 100);
}

}  // namespace
}  // namespace vyre
