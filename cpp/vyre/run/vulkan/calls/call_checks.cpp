#include "vyre/run/vulkan/calls/call_checks.hpp"

#include <fmt/format.h>

#include <cstring>
#include <string>
#include <vector>

#include "vyre/base/assert.hpp"
#include "vyre/base/error.hpp"
#include "vyre/run/gpu/limits.hpp"
#include "vyre/run/vulkan/memory/buffer.hpp"

namespace vyre::run::vulkan {
namespace {

std::string describe_buffer(const Shader& shader, std::size_t index) {
  return index < shader.names.size() ? fmt::format("buffer `{}`", shader.names[index]) : fmt::format("buffer {}", index);
}

}  // namespace

void check_sizes(const Context& context, const Shader& shader, std::span<const std::uint64_t> bytes) {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const auto at_most = [&](const Context::Limit& limit) {
      const std::uint64_t wanted = device_bytes(bytes[i]);
      if (wanted <= limit.bytes) return;
      Limits(context.name()).at_most(wanted, limit.bytes, limit.name, "bytes of " + describe_buffer(shader, i), "pass a smaller array");
    };
    if (!shader.addressed) {
      at_most({context.max_storage_range(), "maxStorageBufferRange"});
    }
    at_most(context.max_array());
  }
}

void check_host_call(const Context& context, const Shader& shader, std::span<const BufferView> buffers) {
  VYRE_ASSERT(buffers.size() == shader.buffer_count);
  std::vector<std::uint64_t> sizes;
  for (const BufferView& buffer : buffers) sizes.push_back(buffer.bytes.size());
  check_sizes(context, shader, sizes);
}

void check_status(const Context& context, const std::byte* status) {
  std::uint32_t word = 0;
  std::memcpy(&word, status, sizeof(word));
  if (word == 0) return;
  const std::uint32_t budget = context.probes.loop_budget.value_or(0);
  throw CapabilityError(
      fmt::format("more than {} loop turns an invocation exceeds loop_budget of device `{}`, whose driver ends loops after {} in all. "
                  "Fix: use backend `cpu` or a device whose loop_budget is none, or run fewer turns a dispatch and keep the state in a "
                  "buffer.",
                  budget, context.name(), budget));
}

}  // namespace vyre::run::vulkan
