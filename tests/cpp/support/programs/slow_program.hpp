// A program that takes long enough for a backend to want all the threads that it may have, and parts the lanes of a batch.
#pragma once

#include <cstdint>
#include <vector>

#include "support/run_program.hpp"
#include "vyre/ir/handles/handle.hpp"
#include "vyre/ir/handles/resolve.hpp"
#include "vyre/ir/ops.hpp"

namespace vyre::test {

inline constexpr std::uint32_t kSlowGroups = 64;

// out[i] = the sum of the numbers below i % 2048.
inline ir::Program slow_program() {
  using namespace ir;
  const ExprHandle i = expr::gid(0);
  return make_program({BufferDecl::read_write("out", 0, kU32)}, {64, 1, 1},
                      std::vector{node::let("sum", expr::u32(0)), node::let("n", expr::binary(BinOp::BitAnd, i, expr::u32(2047))),
                                  node::loop("k", expr::u32(0), expr::var("n"),
                                             {node::assign("sum", expr::binary(BinOp::Add, expr::var("sum"), expr::var("k")))}),
                                  node::store("out", i, expr::var("sum"))});
}

inline Words slow_program_result(std::uint32_t groups = kSlowGroups) {
  Words sums(std::size_t{64} * groups);
  for (std::uint32_t i = 0; i < sums.size(); ++i) sums[i] = (i & 2047) == 0 ? 0 : sums[i - 1] + (i & 2047) - 1;
  return sums;
}

}  // namespace vyre::test
