#include "vyre/run/gpu/device_storage.hpp"

#include <fmt/format.h>

#include "vyre/base/error.hpp"

namespace vyre::run {

void throw_lost_with_its_arrays(std::string_view device) {
  throw DeviceLostError(fmt::format("device `{}` was lost, and the arrays on it with it. Fix: make them anew, and call again.", device));
}

}  // namespace vyre::run
