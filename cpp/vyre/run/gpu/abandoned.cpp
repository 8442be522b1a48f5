#include "vyre/run/gpu/abandoned.hpp"

#include <fmt/format.h>

namespace vyre::run {

void throw_busy_with_abandoned_work(std::string_view device) {
  throw DeviceError(
      fmt::format("device `{}` is still busy with a call that timed out or was interrupted. Fix: call again when that "
                  "program has ended, or use another device.",
                  device));
}

}  // namespace vyre::run
