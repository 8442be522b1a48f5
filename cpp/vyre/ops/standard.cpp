#include "vyre/ops/standard.hpp"

#include "vyre/ops/families.hpp"

namespace vyre::ops {

const ir::OpTable& standard_ops() {
  static const ir::OpTable table = [] {
    ir::OpTable all;
    for (auto family : {bitwise_ops, bit_field_ops, bit_position_ops, math_ops, saturating_ops, average_ops, signed_ops, dot_ops,
                        divisor_ops, compare_ops, logical_ops, u64_ops, u64_range_ops, u64_bit_ops, u64_divisor_ops, u64_signed_ops,
                        u64_signed_range_ops, u64_signed_bit_ops, rng_ops}) {
      for (ir::OpTable::Spec& spec : family()) all = all.with(std::move(spec));
    }
    return all;
  }();
  return table;
}

}  // namespace vyre::ops
