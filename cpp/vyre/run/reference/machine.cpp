#include "vyre/run/reference/machine.hpp"

#include <fmt/format.h>

#include "vyre/base/error.hpp"

namespace vyre::run::reference {

void Watch::look() {
  left_ = kBetweenLooks;
  if (options_.interrupted && options_.interrupted()) throw Interrupted();
  if (options_.timeout && std::chrono::steady_clock::now() - start_ > *options_.timeout) {
    throw DispatchTimeoutError(
        fmt::format("the reference did not finish within {} s. Fix: give a longer time-out, fewer workgroups, or name a faster backend.",
                    options_.timeout->count()));
  }
}

std::vector<std::uint32_t> make_slots(const Code& code, std::span<const Memory> memory) {
  std::vector<std::uint32_t> slots(code.slots, 0);
  for (const Code::Constant& constant : code.constants) slots[constant.slot] = constant.value;
  for (const Code::Length& length : code.lengths) slots[length.slot] = memory[length.buffer.index].length;
  return slots;
}

}  // namespace vyre::run::reference
