// Keeps a copy of a small storage on the host, valid while only the host has written the storage. Through it, specialisation reads the
// words of Uniform buffers without waiting for the device.
//
// There is no lock: all functions are called in the order of the device's stream, from Stream::submit or Stream::in_order.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace vyre::run::vulkan {

class HostMirror {
 public:
  // The size in bytes of the largest storage that has a mirror. The parameters of a program are only a few words.
  static constexpr std::uint64_t kMaxBytes = 4096;

  HostMirror(std::uint64_t bytes, bool zeros) : bytes_(bytes), valid_(zeros) {}

  // Returns nothing while the mirror is not valid.
  std::optional<std::span<const std::byte>> bytes() const {
    if (!valid_) return std::nullopt;
    return bytes_;
  }
  // A write of the whole storage makes the mirror valid again; a write of a part does not.
  void written_by_host(std::uint64_t offset, std::span<const std::byte> from) {
    std::copy(from.begin(), from.end(), bytes_.begin() + static_cast<std::ptrdiff_t>(offset));
    valid_ = valid_ || from.size() == bytes_.size();
  }
  void written_by_device() { valid_ = false; }

 private:
  std::vector<std::byte> bytes_;
  bool valid_;
};

}  // namespace vyre::run::vulkan
