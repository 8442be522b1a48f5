#include "vyre/run/reference/machine.hpp"

namespace vyre::run::reference {

void Watch::look() {
  left_ = kBetweenLooks;
  deadline_.check(Awaited::Reference);
}

std::vector<std::uint32_t> make_slots(const Code& code, std::span<const Memory> memory) {
  std::vector<std::uint32_t> slots(code.slots, 0);
  for (const Code::Constant& constant : code.constants) slots[constant.slot] = constant.value;
  for (const Code::Length& length : code.lengths) slots[length.slot] = memory[length.buffer.index].length;
  return slots;
}

}  // namespace vyre::run::reference
