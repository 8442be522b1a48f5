// The data that the interpreter works on, buffers and slots, and the watch that ends a call that takes too long.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "vyre/run/deadline.hpp"
#include "vyre/run/reference/code.hpp"

namespace vyre::run::reference {

// Returns the low `width` bytes of a word (1 or 2 bytes), extended to a word again.
inline std::uint32_t narrowed(std::uint32_t value, std::size_t width, ir::Extend extend) {
  const std::size_t unused = 32 - 8 * width;
  const std::uint32_t high = value << unused;
  return extend == ir::Extend::Sign ? static_cast<std::uint32_t>(static_cast<std::int32_t>(high) >> unused) : high >> unused;
}

// A buffer's memory. Lanes are read and written as bytes, because host arrays may lie at any address.
struct Memory {
  std::byte* bytes = nullptr;
  std::uint32_t length = 0;  // whole elements
  bool writable = false;     // ReadWrite or Workgroup: other invocations may observe its changes

  std::uint32_t read(std::size_t lane) const {
    std::uint32_t value;
    std::memcpy(&value, bytes + lane * sizeof value, sizeof value);
    return value;
  }
  void write(std::size_t lane, std::uint32_t value) const { std::memcpy(bytes + lane * sizeof value, &value, sizeof value); }

  // An element of `width` bytes, 1 or 2, extended to a word.
  std::uint32_t read_narrow(std::size_t index, std::size_t width, ir::Extend extend) const {
    std::uint32_t value = 0;
    std::memcpy(&value, bytes + index * width, width);
    return narrowed(value, width, extend);
  }
  // Keeps the low bytes of the value.
  void write_narrow(std::size_t index, std::size_t width, std::uint32_t value) const { std::memcpy(bytes + index * width, &value, width); }
};

// Ends a call that takes too long or that was interrupted. Reading the clock is slow, so work is counted, and the clock is read
// about every millisecond.
class Watch {
 public:
  // `options` must outlive the watch.
  explicit Watch(const RunOptions& options) : deadline_(deadline_of(options)) {}

  // Throws DispatchTimeoutError or Interrupted. `work` is about the number of instructions since the last call.
  void spend(std::uint64_t work) {
    if (work < left_) {
      left_ -= work;
    } else {
      look();
    }
  }

 private:
  static constexpr std::uint64_t kBetweenLooks = std::uint64_t{1} << 18;  // work of about a millisecond

  void look();

  const Deadline deadline_;
  std::uint64_t left_ = kBetweenLooks;
};

// The slots of one invocation, with literals and lengths filled in. `memory` is indexed by BufferId.
std::vector<std::uint32_t> make_slots(const Code& code, std::span<const Memory> memory);

}  // namespace vyre::run::reference
