// Compares what a program needs with what a device allows.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace vyre::run {

// The names of an API for the limits of a workgroup. `size` is a format, into which the name of an axis is put.
struct LimitNames {
  std::string_view size, invocations, memory;
  std::array<std::string_view, 3> axes;
};

inline constexpr LimitNames kVulkanNames{
    "maxComputeWorkGroupSize[{}]", "maxComputeWorkGroupInvocations", "maxComputeSharedMemorySize", {"0", "1", "2"}};
inline constexpr LimitNames kCudaNames{
    "the max block dimension {}", "the max threads per block", "the max shared memory per block", {"x", "y", "z"}};

class Limits {
 public:
  // `device` is the name for messages, and must outlive the object.
  explicit Limits(std::string_view device, const LimitNames& names = kVulkanNames) : device_(device), names_(names) {}

  // These throw CapabilityError. `limit` is the name of the limit, `what` names the things that are counted, and `advice` says how to stay
  // within the limit.
  void at_most(std::uint64_t wanted, std::uint64_t allowed, std::string_view limit, std::string_view what, std::string_view advice) const;
  // `most` is the largest size along each axis, and `most_invocations` the most invocations of a workgroup.
  void workgroup_size(const std::array<std::uint32_t, 3>& size, const std::array<std::uint32_t, 3>& most,
                      std::uint32_t most_invocations) const;
  // Both are in bytes.
  void workgroup_memory(std::uint64_t wanted, std::uint64_t allowed) const;

 private:
  const std::string_view device_;
  const LimitNames& names_;
};

}  // namespace vyre::run
