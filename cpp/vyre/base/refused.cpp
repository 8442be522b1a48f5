#include "vyre/base/refused.hpp"

#include <fmt/format.h>

namespace vyre {

std::string must_be(std::string_view where, std::string_view wanted, std::string_view got) {
  return fmt::format("{} must be {}, got {}. Fix: pass {}.", where, wanted, got, wanted);
}

void check_limit(std::uint64_t wanted, std::uint64_t allowed, std::string_view limit, std::string_view whose, std::string_view what,
                 std::string_view advice) {
  if (wanted <= allowed) return;
  throw CapabilityError(
      fmt::format("{} {} exceeds {} of {}, which allows {}. Fix: {}, or use another device.", wanted, what, limit, whose, allowed, advice));
}

BindingError overlapping(std::string_view one, std::string_view other) {
  return BindingError(
      fmt::format("arrays `{}` and `{}` overlap in memory, and one of them is written. Fix: give each its own array, for instance a copy.",
                  one, other));
}

DeviceMemoryError no_memory(std::string_view whose, std::string_view what) {
  return DeviceMemoryError(fmt::format("{} has no memory for {}. Fix: use fewer elements.", whose, what));
}

DeviceError forked(std::string_view what) {
  return DeviceError(
      fmt::format("{} before this process was forked, and does not survive that. Fix: start worker processes with the `spawn` method, or "
                  "make the first call that uses it after the fork.",
                  what));
}

}  // namespace vyre
