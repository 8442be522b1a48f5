#include "vyre/run/gpu/limits.hpp"

#include <fmt/format.h>

#include "vyre/base/error.hpp"
#include "vyre/base/refused.hpp"

namespace vyre::run {

void Limits::at_most(std::uint64_t wanted, std::uint64_t allowed, std::string_view limit, std::string_view what,
                     std::string_view advice) const {
  if (wanted > allowed) check_limit(wanted, allowed, limit, fmt::format("device `{}`", device_), what, advice);
}

void Limits::workgroup_size(const std::array<std::uint32_t, 3>& size, const std::array<std::uint32_t, 3>& most,
                            std::uint32_t most_invocations) const {
  for (std::size_t axis = 0; axis < 3; ++axis) {
    at_most(size[axis], most[axis], fmt::format(fmt::runtime(names_.size), names_.axes[axis]), "invocations along an axis of the workgroup",
            "use a smaller workgroup_size");
  }
  std::uint64_t invocations = 1;
  for (const std::uint32_t along : size) {
    // Each factor is below 2^32 and so is each partial product that passes, so this cannot wrap.
    invocations *= along;
    at_most(invocations, most_invocations, names_.invocations, "invocations a workgroup", "use a smaller workgroup_size");
  }
}

void Limits::workgroup_memory(std::uint64_t wanted, std::uint64_t allowed) const {
  at_most(wanted, allowed, names_.memory, "bytes of workgroup memory", "declare smaller workgroup buffers");
}

}  // namespace vyre::run
