#include <new>

#include "vyre/base/assert.hpp"
#include "vyre/base/error.hpp"
#include "vyre/base/refused.hpp"
#include "vyre/run/checks/checks.hpp"
#include "vyre/run/host/host_storage.hpp"
#include "vyre/run/profile.hpp"
#include "vyre/run/recording.hpp"
#include "vyre/run/reference/dispatch.hpp"
#include "vyre/run/reference/prepare.hpp"
#include "vyre/run/reference/reference.hpp"

namespace vyre::run {
namespace reference {
namespace {

constexpr char kName[] = "reference interpreter";
const DeviceLabel kDevice = {"reference", 0, kName};

class ReferenceExecutable : public Executable {
 public:
  explicit ReferenceExecutable(const validate::ValidProgram& program)
      : program_(std::make_shared<validate::ValidProgram>(program)), code_(compiled(program)) {}

  void run(std::span<const BufferView> buffers, Grid grid, const RunOptions& options) override {
    VYRE_ASSERT(buffers.size() == program_->bound().size());
    if (grid.x == 0 || grid.y == 0 || grid.z == 0) return;
    try {
      const Copies copies(*program_, buffers);
      Watch watch(options);
      Unobserved observer;
      {
        const DispatchSpan span(kDevice, program_, grid, buffers);
        dispatch({program_->program(), code_, copies.memory(), grid}, options.schedule, watch, observer);
      }
      copies.write_back();
    } catch (const std::bad_alloc&) {
      throw no_memory("the host", "the reference's copies of the buffers");
    }
  }

 private:
  static Code compiled(const validate::ValidProgram& program) {
    const Span span("compile");
    return compile_within_limits(program);
  }

  const ProfiledProgram program_;
  Code code_;
};

class ReferenceBackend : public Backend {
 public:
  std::string_view name() const override { return "reference"; }
  bool is_host() const override { return true; }
  std::vector<std::string> reasons_unavailable() override { return {}; }
  std::vector<DeviceInfo> devices() override {
    DeviceInfo device;
    device.name = kName;
    device.driver = "vyre";
    device.kind = "cpu";
    device.usable = true;
    device.limits = {{"maxComputeWorkGroupInvocations", kMaxHostInvocations}, {"maxComputeSharedMemorySize", kMaxHostWorkgroupBytes}};
    return {device};
  }
  std::unique_ptr<Executable> prepare(const validate::ValidProgram& program, std::optional<std::size_t> device, const Optimize&,
                                      const RunOptions&) override {
    check_only_device(device, name());
    return std::make_unique<ReferenceExecutable>(program);
  }
  std::shared_ptr<Recording> record(CallsToRecord calls, const RunOptions&, std::span<const StorageView>) override {
    return record_on_host(std::move(calls), Awaited::Reference);
  }
  std::unique_ptr<Storage> allocate(std::optional<std::size_t> device, std::uint64_t bytes, bool) override {
    check_only_device(device, name());
    return std::make_unique<HostStorage>(bytes);
  }
};

}  // namespace
}  // namespace reference

std::unique_ptr<Backend> make_reference_backend() { return std::make_unique<reference::ReferenceBackend>(); }

}  // namespace vyre::run
