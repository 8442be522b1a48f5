#include "vyre/run/gpu/kept_device.hpp"

#include <mutex>

#include "vyre/base/fork.hpp"

namespace vyre::run {

void KeptDevice::keep_until_process_end(KeptDevice& device) noexcept {
  static ForkSafeMutex mutex;
  static KeptDevice* kept = nullptr;
  const std::lock_guard lock(mutex);
  device.next_ = kept;
  kept = &device;
}

}  // namespace vyre::run
