#include "vyre/run/cpu/registers.hpp"

#include <utility>

#include "vyre/base/assert.hpp"

namespace vyre::run::cpu {

std::uint32_t Registers::take_vector(std::uint32_t lanes) {
  std::vector<std::uint32_t>& free = free_registers_[lanes];
  if (free.empty()) return new_vector(lanes);
  const std::uint32_t reg = free.back();
  free.pop_back();
  return reg;
}

std::uint32_t Registers::new_vector(std::uint32_t lanes) { return std::exchange(code_.vectors, code_.vectors + lanes); }

std::uint32_t Registers::new_scalar(std::uint32_t lanes) {
  const auto first = static_cast<std::uint32_t>(code_.scalars.size());
  code_.scalars.resize(first + lanes);
  return first | kScalar;
}

std::uint32_t Registers::constant(Word value) {
  const std::uint32_t reg = new_scalar(1);
  code_.scalars.back() = value;
  return reg;
}

void Registers::expire(std::uint32_t position) {
  for (const auto& [reg, lanes] : expiring_[position]) free_registers_[lanes].push_back(reg);
  expiring_[position].clear();
}

std::uint32_t Registers::of(std::uint32_t value) const {
  VYRE_ASSERT(register_of_[value] != kNone);
  return register_of_[value];
}

}  // namespace vyre::run::cpu
