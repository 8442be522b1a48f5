#include <fmt/format.h>

#include <algorithm>
#include <new>

#include "vyre/base/error.hpp"
#include "vyre/run/checks.hpp"
#include "vyre/run/reference/compile.hpp"
#include "vyre/run/reference/dispatch.hpp"
#include "vyre/run/reference/reference.hpp"

namespace vyre::run {
namespace reference {
namespace {

// Not in the documents: what all invocations of a workgroup keep over barriers.
constexpr std::uint64_t kMaxKeptBytes = std::uint64_t{4} << 30;

class ReferenceExecutable : public Executable {
 public:
  explicit ReferenceExecutable(const validate::ValidProgram& program) : program_(program) {
    check_host_limits(program.program(), "reference");
    code_ = compile(program);
    const ir::WorkgroupSize& size = program.program().workgroup_size();
    const std::uint64_t kept = std::uint64_t{size[0]} * size[1] * size[2] * code_.kept * sizeof(std::uint32_t);
    if (code_.barriers && kept > kMaxKeptBytes) {
      throw CapabilityError(
          fmt::format("variables exceed the reference's limit of memory kept over barriers: wanted {} bytes, allowed {}. Fix: use a "
                      "smaller workgroup_size, or blocks that end before the barrier.",
                      kept, kMaxKeptBytes));
    }
  }

  void run(std::span<const BufferView> buffers, Grid grid, const RunOptions& options) override {
    check_call(program_, buffers, grid);
    if (grid.x == 0 || grid.y == 0 || grid.z == 0) return;
    try {
      run_checked(buffers, grid, options);
    } catch (const std::bad_alloc&) {
      throw DeviceMemoryError("the reference ran out of memory for copies of the buffers. Fix: bind smaller arrays, or free some memory.");
    }
  }

 private:
  void run_checked(std::span<const BufferView> buffers, Grid grid, const RunOptions& options) const {
    const ir::Program& program = program_.program();

    // Programs work on copies of ReadWrite buffers, so that no byte of the caller changes unless the call succeeds.
    std::vector<Memory> memory(program.buffers().size());
    std::vector<std::vector<std::byte>> copies(buffers.size());
    for (std::size_t slot = 0; slot < buffers.size(); ++slot) {
      const BufferId id = program_.bound()[slot];
      const BufferView& view = buffers[slot];
      memory[id.index] = {view.bytes.data(), view.length};
      if (program.buffers()[id.index].access != ir::BufferAccess::ReadWrite) continue;
      copies[slot].assign(view.bytes.begin(), view.bytes.end());
      memory[id.index].bytes = copies[slot].data();
      memory[id.index].writable = true;
    }
    for (std::size_t index = 0; index < program.buffers().size(); ++index) {
      const ir::BufferDecl& buffer = program.buffers()[index];
      if (buffer.access == ir::BufferAccess::Workgroup) memory[index] = {nullptr, buffer.count, true};
    }

    Watch watch(options);
    Unobserved nobody;
    dispatch({program, code_, memory, grid}, options.schedule, watch, nobody);

    for (std::size_t slot = 0; slot < buffers.size(); ++slot) {
      std::copy(copies[slot].begin(), copies[slot].end(), buffers[slot].bytes.begin());
    }
  }

  validate::ValidProgram program_;
  Code code_;
};

class ReferenceBackend : public Backend {
 public:
  std::string_view name() const override { return "reference"; }
  std::vector<std::string> unavailable() override { return {}; }
  std::vector<DeviceInfo> devices() override {
    DeviceInfo device;
    device.name = "reference interpreter";
    device.driver = "vyre";
    device.kind = "cpu";
    device.usable = true;
    device.limits = {{"maxComputeWorkGroupInvocations", kMaxHostInvocations}, {"maxComputeSharedMemorySize", kMaxHostWorkgroupBytes}};
    return {device};
  }
  std::unique_ptr<Executable> prepare(const validate::ValidProgram& program, std::optional<std::size_t> device,
                                      const PrepareOptions&) override {
    if (device.value_or(0) != 0) {
      throw ArgumentError(fmt::format("device {} of backend `reference` does not exist. Fix: use 0, its only device.", *device));
    }
    return std::make_unique<ReferenceExecutable>(program);
  }
};

}  // namespace
}  // namespace reference

std::unique_ptr<Backend> make_reference_backend() { return std::make_unique<reference::ReferenceBackend>(); }

}  // namespace vyre::run
