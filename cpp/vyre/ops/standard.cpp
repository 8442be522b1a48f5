#include "vyre/ops/standard.hpp"

#include "vyre/ops/families.hpp"

namespace vyre::ops {

const ir::OpTable& standard_ops() {
  static const ir::OpTable table = [] {
    ir::OpTable all;
    for (auto family : {bitwise_ops, bit_field_ops, math_ops, integer_ops, compare_ops, logical_ops, u64_ops, u64_more_ops, rng_ops}) {
      for (ir::OpTable::Spec& spec : family()) all = all.with(std::move(spec));
    }
    return all;
  }();
  return table;
}

}  // namespace vyre::ops
