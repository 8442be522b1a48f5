// The Vulkan backend of a build without SPIR-V. It only reports why it cannot run.
#include "vyre/run/vulkan/backend.hpp"

#include "vyre/base/error.hpp"
#include "vyre/run/recording.hpp"

namespace vyre::run {
namespace {

constexpr char kReason[] =
    "this build of vyre has no SPIR-V. Fix: install glslang-dev, spirv-tools, libvulkan-dev and libvulkan-volk-dev, and build it "
    "without -DVYRE_SPIRV=OFF.";

class AbsentBackend final : public Backend {
 public:
  std::string_view name() const override { return "vulkan"; }
  std::vector<std::string> reasons_unavailable() override { return {kReason}; }
  std::vector<DeviceInfo> devices() override { return {}; }
  std::unique_ptr<Executable> prepare(const validate::ValidProgram&, std::optional<std::size_t>, const Optimize&,
                                      const RunOptions&) override {
    throw DeviceError(kReason);
  }
  std::unique_ptr<Storage> allocate(std::optional<std::size_t>, std::uint64_t, bool) override { throw DeviceError(kReason); }
  std::shared_ptr<Recording> record(CallsToRecord, const RunOptions&, std::span<const StorageView>) override { throw DeviceError(kReason); }
};

}  // namespace

std::unique_ptr<Backend> make_vulkan_backend() { return std::make_unique<AbsentBackend>(); }

}  // namespace vyre::run
