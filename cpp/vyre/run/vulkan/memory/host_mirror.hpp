// What the host knows of the bytes of a small storage: what it wrote there itself, until a call writes it.
//
// Nothing here is guarded: all of it happens in the order of the device's stream, inside of Stream::submit or Stream::in_order.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace vyre::run::vulkan {

class Contents {
 public:
  // The parameters of a program are a few words. Larger storages are not looked into.
  static constexpr std::uint64_t kMostBytes = 4096;

  Contents(std::uint64_t bytes, bool zeros) : bytes_(bytes), known_(zeros) {}

  // Nothing when they are not known.
  std::optional<std::span<const std::byte>> bytes() const {
    if (!known_) return std::nullopt;
    return bytes_;
  }
  // The host wrote this. Part of what is not known leaves the rest unknown.
  void written_by_host(std::uint64_t offset, std::span<const std::byte> from) {
    std::copy(from.begin(), from.end(), bytes_.begin() + static_cast<std::ptrdiff_t>(offset));
    known_ = known_ || from.size() == bytes_.size();
  }
  void written_by_device() { known_ = false; }

 private:
  std::vector<std::byte> bytes_;
  bool known_;
};

}  // namespace vyre::run::vulkan
