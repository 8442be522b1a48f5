#include "vyre/run/gpu/open_devices.hpp"

#include <fmt/format.h>

#include "vyre/base/error.hpp"

namespace vyre::run {

void check_device_index(std::size_t index, std::size_t count) {
  if (index < count) return;
  throw ArgumentError(fmt::format("device {} does not exist, there are {}. Fix: pass the index of an entry of devices().", index, count));
}

void throw_unusable(const std::vector<std::string>& reasons) { throw DeviceError(fmt::to_string(fmt::join(reasons, " "))); }

}  // namespace vyre::run
