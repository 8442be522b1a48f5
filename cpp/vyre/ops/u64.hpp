// Helpers that the files of primitive.u64.* share.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "vyre/ir/data_type.hpp"
#include "vyre/ops/body.hpp"

namespace vyre::ops {

inline constexpr std::uint64_t kAll = 0xFFFFFFFFFFFFFFFFu;
inline constexpr std::uint64_t kTop = 0x8000000000000000u;

inline ir::ExprHandle pack64(ir::ExprHandle low, ir::ExprHandle high) {
  return ir::expr::pack(ir::DataType::U64, {std::move(low), std::move(high)});
}

inline ir::OpTable::Spec op64(std::string_view name, const ir::OpSignature& signature, std::string summary, std::vector<ir::OpLaw> laws,
                              std::vector<ir::OpExample> examples, const std::function<ir::ExprHandle(Body&)>& body) {
  return make_op({"primitive.u64." + std::string(name), signature, std::move(summary), std::move(laws), std::move(examples)}, body);
}

}  // namespace vyre::ops
