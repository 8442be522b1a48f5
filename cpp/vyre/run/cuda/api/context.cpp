#include "vyre/run/cuda/api/context.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <utility>

namespace vyre::run::cuda {
namespace {

// The oldest GPUs that the emitted code is for, as 10 * major + minor.
constexpr int kMinCapability = 75;
// The oldest driver that has all of the functions, as 1000 * major + 10 * minor.
constexpr int kMinCudaVersion = 11040;

// The device whose primary context other libraries take on a thread that has no context.
constexpr CUdevice kUsualDevice = 0;

std::string capability_text(int capability) { return fmt::format("{}.{}", capability / 10, capability % 10); }
std::string version_text(int version) { return fmt::format("{}.{}", version / 1000, version % 1000 / 10); }

// The version of the kernel driver, such as 580.159.04; empty where the system does not tell.
std::string driver_release() {
  std::ifstream file("/sys/module/nvidia/version");
  std::string release;
  std::getline(file, release);
  return release;
}

std::uint32_t attribute(const Api& api, CUdevice device, int which) {
  int value = 0;
  check(api, api.cuDeviceGetAttribute(&value, which, device), "cuDeviceGetAttribute", {});
  return static_cast<std::uint32_t>(std::max(value, 0));
}

std::vector<std::pair<std::string, std::uint64_t>> limits_of(const PhysicalDevice& device) {
  std::vector<std::pair<std::string, std::uint64_t>> list;
  for (std::size_t axis = 0; axis < 3; ++axis)
    list.emplace_back(fmt::format("maxComputeWorkGroupCount[{}]", axis), device.max_group_count[axis]);
  for (std::size_t axis = 0; axis < 3; ++axis)
    list.emplace_back(fmt::format("maxComputeWorkGroupSize[{}]", axis), device.max_group_size[axis]);
  list.emplace_back("maxComputeWorkGroupInvocations", device.max_invocations);
  list.emplace_back("maxComputeSharedMemorySize", device.shared_bytes);
  list.emplace_back("memory", device.memory_bytes);
  return list;
}

PhysicalDevice describe(const Api& api, int ordinal, int version, const std::string& file) {
  PhysicalDevice device;
  check(api, api.cuDeviceGet(&device.handle, ordinal), "cuDeviceGet", {});
  char name[256] = {};
  check(api, api.cuDeviceGetName(name, sizeof(name) - 1, device.handle), "cuDeviceGetName", {});
  device.info.name = name;
  const std::string release = driver_release();
  const std::string cuda = "CUDA " + version_text(version);
  device.info.driver = release.empty() ? cuda : fmt::format("NVIDIA {} ({})", release, cuda);
  const auto of = [&](int which) { return attribute(api, device.handle, which); };
  device.info.kind = of(CU_DEVICE_ATTRIBUTE_INTEGRATED) != 0 ? "integrated gpu" : "discrete gpu";
  const int capability =
      static_cast<int>(10 * of(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) + of(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
  // On WSL and in some containers the release is empty, and several releases share a CUDA version; `file` then tells the drivers apart.
  device.key = fmt::format("cuda{}-{}-{}-sm{}", version, release, file, capability);
  for (int axis = 0; axis < 3; ++axis) {
    device.max_group_size[static_cast<std::size_t>(axis)] = of(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X + axis);
    device.max_group_count[static_cast<std::size_t>(axis)] = of(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X + axis);
  }
  device.max_invocations = of(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  device.max_resident = of(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
  device.registers = of(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR);
  device.all_shared_bytes = of(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
  device.shared_bytes = of(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  std::size_t memory = 0;
  check(api, api.cuDeviceTotalMem(&memory, device.handle), "cuDeviceTotalMem", device.info.name);
  device.memory_bytes = memory;
  device.info.limits = limits_of(device);
  std::vector<std::string>& reasons = device.info.reasons;
  const auto refuse = [&](bool unfit, const std::string& reason) {
    if (unfit) reasons.push_back(fmt::format("device `{}` {}", device.info.name, reason));
  };
  refuse(version < kMinCudaVersion,
         fmt::format("has a driver of {}, and {} is needed. Fix: update the driver.", cuda, version_text(kMinCudaVersion)));
  refuse(capability < kMinCapability, fmt::format("has compute capability {}, and {} is needed. Fix: use a newer GPU, or backend `vulkan`.",
                                                  capability_text(capability), capability_text(kMinCapability)));
  refuse(of(CU_DEVICE_ATTRIBUTE_COMPUTE_MODE) == CU_COMPUTEMODE_PROHIBITED,
         "is set to take no compute work. Fix: change its mode with `nvidia-smi --compute-mode=0`.");
  refuse(of(CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED) == 0, "has no stream-ordered memory. Fix: use backend `vulkan` or `cpu`.");
  device.info.usable = reasons.empty();
  return device;
}

}  // namespace

Instance::Instance(const Library& library) : process_(getpid()) {
  if (library.find == nullptr) throw NoCudaError(library.reason);
  api_ = load(library.find);
  const CUresult begun = api_.cuInit(0);
  if (begun == CUDA_ERROR_NO_DEVICE) {
    throw NoCudaError(kNoGpu);
  }
  check(api_, begun, "cuInit", {});
  int version = 0, count = 0;
  check(api_, api_.cuDriverGetVersion(&version), "cuDriverGetVersion", {});
  check(api_, api_.cuDeviceGetCount(&count), "cuDeviceGetCount", {});
  for (int ordinal = 0; ordinal < count; ++ordinal) devices_.push_back(describe(api_, ordinal, version, library.file));
}

Context::Context(std::shared_ptr<Instance> instance, const PhysicalDevice& physical, Options options)
    : instance_(std::move(instance)), physical_(physical), options_(std::move(options)) {
  CUcontext context = nullptr;
  cuda::check(api(), api().cuDevicePrimaryCtxRetain(&context, physical_.handle), "cuDevicePrimaryCtxRetain", name());
  context_ = context;
}

void Context::release() noexcept {
  if (context_.exchange(nullptr) != nullptr && !forked()) static_cast<void>(api().cuDevicePrimaryCtxRelease(physical_.handle));
}

void Context::failed(CUresult result, const char* call) {
  if (is_lost(result)) unusable_ = lost_ = true;
  fail(api(), result, call, name());
}

std::array<std::uint32_t, 3> Context::max_group_count() const {
  std::array<std::uint32_t, 3> counts = physical_.max_group_count;
  for (std::size_t axis = 0; options_.max_group_count && axis < 3; ++axis)
    counts[axis] = std::min(counts[axis], (*options_.max_group_count)[axis]);
  return counts;
}

Current::Current(Context& context) : api_(context.api()) {
  CUcontext wanted = context.context_;
  // A released context is null. Without this check it would compare equal to the current context of a thread that has none.
  if (wanted == nullptr) context.check(CUDA_ERROR_CONTEXT_IS_DESTROYED, "cuCtxPushCurrent");
  CUcontext now = nullptr;
  if (api_.cuCtxGetCurrent(&now) == CUDA_SUCCESS && now == wanted) return;
  context.check(api_.cuCtxPushCurrent(wanted), "cuCtxPushCurrent");
  pushed_ = now != nullptr || context.physical().handle != kUsualDevice;
}

Current::~Current() {
  CUcontext popped = nullptr;
  if (pushed_) static_cast<void>(api_.cuCtxPopCurrent(&popped));
}

}  // namespace vyre::run::cuda
