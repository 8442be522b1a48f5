// The values of the sizes of one run of a procedure, while its steps are flattened (flatten.hpp).
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "vyre/base/id.hpp"
#include "vyre/ir/procedures/procedure.hpp"
#include "vyre/run/procedures/procedure_numbers.hpp"
#include "vyre/run/procedures/shape.hpp"

namespace vyre::run {

class FrameNumbers {
 public:
  using Limits = std::function<std::uint64_t(ir::Limit)>;
  // Return the index of a late number: of a term, and of one of the run's numbers, of type I32, that is used as a size.
  using Late = std::function<std::uint32_t(const LateNumbers::Term&)>;
  using LateSize = std::function<std::uint32_t(std::uint32_t late, const ir::NumberDecl&)>;

  // `numbers` are those of the run. `procedure`, `shapes` and `limit` must outlive the object; the shape of an array must be known before a
  // length of it is asked for.
  FrameNumbers(const ir::Procedure& procedure, std::vector<Number> numbers, const IdVector<ir::ArrayId, Shape>& shapes, const Limits& limit,
               Late late, LateSize late_size);

  // Returns a size: its value, or the late number that it is. Throws ArgumentError as ir::apply does, and for a number of type I32 that is
  // negative.
  Number size(ir::SizeId id);
  // Returns what 32 bits of a parameter are given: as size(), but a number of type I32 that stands alone may be negative.
  Number bits(ir::SizeId id);
  // Sets the turn of a Repeat, and forgets the sizes that depend on it.
  void set_turn(std::uint32_t turn, std::uint64_t value);

 private:
  Number leaf(const ir::SizeTerm& term) const;
  Number as_size(ir::SizeId id);  // of a value that is known
  Number result(ir::SizeOp op, std::uint32_t operands, const std::array<std::uint32_t, 3>& ids);

  const ir::Procedure& procedure_;
  const std::vector<Number> numbers_;
  const IdVector<ir::ArrayId, Shape>& shapes_;
  const Limits& limit_;
  const Late late_;
  const LateSize late_size_;
  std::vector<std::uint64_t> turns_;
  std::vector<bool> known_;  // by size
  std::vector<Number> values_;
  std::vector<std::uint32_t> open_;  // the sizes that are being computed
};

// Returns the shapes of the outputs of a call, in the order of the interface. Throws ArgumentError for
// sizes that are none.
std::vector<Shape> output_shapes(const ir::Procedure& procedure, std::span<const Shape> given, std::span<const std::uint64_t> numbers,
                                 const FrameNumbers::Limits& limit);

}  // namespace vyre::run
