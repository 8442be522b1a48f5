// How it works: the driver's linker turns the text into code for the device, which is kept in a file that is named after the driver and a
// hash of the text. If the driver refuses to load the file, the text is compiled anew.
//
// The driver's compiler takes as many registers as it likes, and does not know how few workgroups are resident then. Where they are one or
// two, the text is compiled once more with a limit that lets one more be resident, which hides more of the time that memory takes. The
// second code is used, and kept in the file, if it spills no register: 8 spilled bytes already slow a pass of a sort.
#include "vyre/run/cuda/compile/kernel.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <string_view>
#include <utility>

#include "vyre/base/error.hpp"
#include "vyre/emit/ptx/emit.hpp"
#include "vyre/lower/lower.hpp"
#include "vyre/run/gpu/kept_file.hpp"
#include "vyre/run/gpu/limits.hpp"
#include "vyre/run/profile.hpp"

namespace vyre::run::cuda {
namespace {

// The workgroup memory that a kernel may use without cuFuncSetAttribute, in bytes.
constexpr std::uint64_t kUsualSharedBytes = 48 << 10;
// Kernels with at most so many resident workgroups are compiled again for one more.
constexpr std::uint32_t kFewResident = 2;
// The registers of an invocation are a multiple of this.
constexpr std::uint32_t kRegisterUnit = 8;
// Distinguishes kept code from that of other rules about registers.
constexpr std::string_view kRule = "// one more resident\n";

Source source_of(const lower::Kernel& kernel, bool counted_grid) {
  Source source;
  {
    const Span span("emit");
    source.code = ptx::emit(kernel, {.counted_grid = counted_grid});
  }
  source.counted_grid = counted_grid;
  source.shared_bytes = kernel.shared_bytes();
  source.private_bytes = kernel.private_bytes();
  for (const lower::KernelBuffer& buffer : kernel.buffers) {
    source.writable.push_back(buffer.writable);
    source.element_bytes.push_back(buffer.bytes());
  }
  return source;
}

void check_limits(const Context& context, const Source& source) {
  const PhysicalDevice& device = context.physical();
  const Limits limits(context.name(), kCudaNames);
  limits.workgroup_size(source.code.bindings.workgroup_size, device.max_group_size, device.max_invocations);
  limits.workgroup_memory(source.code.bindings.shared_bytes, device.shared_bytes);
}

}  // namespace

Source translate(const validate::ValidProgram& program, const Optimize& options, bool counted_grid) {
  const auto lowered = [&] {
    const Span span("lower");
    return lower::lower(program, options, lower::kPtxTarget);
  };
  return source_of(lowered(), counted_grid);
}

std::optional<Source> translate_coarsened(const validate::ValidProgram& program, std::uint32_t ways, const Optimize& options) {
  const auto lowered = [&] {
    const Span span("lower");
    return lower::lower_coarsened(program, ways, options, lower::kPtxTarget);
  };
  const std::optional<lower::Kernel> kernel = lowered();
  if (!kernel) return std::nullopt;
  return source_of(*kernel, false);
}

struct Kernel::Module final : Retired {
  explicit Module(Context& of) : context(of) {}
  ~Module() override {
    if (handle != nullptr) free_in(context, [this](const Api& api) { static_cast<void>(api.cuModuleUnload(handle)); });
  }
  Context& context;
  CUmodule handle = nullptr;
};

Kernel::Kernel(Context& context, Stream& stream, const Source& source) : context_(context), stream_(stream), source_(source) {
  check_limits(context, source);
  const KeptFile file(context.options().cache_directory, context.physical().key,
                      KeptFile::hash_of(fmt::format("{}{}", kRule, source.code.text)));
  const Current current(context);
  if (std::vector<std::byte> kept = file.read(); !kept.empty()) {
    try {
      use(loaded(std::move(kept)));
      return;
    } catch (const DeviceLostError&) {
      throw;
    } catch (const DeviceError&) {
      // compiled anew below
    }
  }
  Made best = made();
  file.write(best.code);
  use(std::move(best));
}

void Kernel::use(Made made) {
  module_ = std::move(made.module);
  function_ = made.function;
}

Kernel::~Kernel() { stream_.retire(last_use_, std::move(module_)); }

// Compiles the text, a second time if few workgroups are resident.
Kernel::Made Kernel::made() const {
  Made first = loaded(compiled(source_.code.text));
  if (!fits_once_more(first)) return first;
  const std::uint32_t wanted = resident(first.function) + 1;
  Made second = loaded(compiled(ptx::with_resident(source_.code.text, wanted)));
  const auto local_bytes = [&](const Made& of) { return attribute(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, of.function); };
  const bool better = resident(second.function) >= wanted && local_bytes(second) <= local_bytes(first);
  return better ? std::move(second) : std::move(first);
}

// Whether few workgroups are resident, and one more would be if they took fewer registers.
bool Kernel::fits_once_more(const Made& made) const {
  const PhysicalDevice& device = context_.physical();
  const auto& [x, y, z] = source_.code.bindings.workgroup_size;
  const std::uint32_t now = resident(made.function);
  if (now == 0 || now > kFewResident) return false;
  const std::uint64_t wanted = now + 1, invocations = wanted * x * y * z;
  const std::uint32_t registers =
      (attribute(CU_FUNC_ATTRIBUTE_NUM_REGS, made.function) + kRegisterUnit - 1) / kRegisterUnit * kRegisterUnit;
  return registers * invocations > device.registers && invocations <= device.max_resident &&
         wanted * source_.code.bindings.shared_bytes <= device.all_shared_bytes;
}

std::vector<std::byte> Kernel::compiled(const std::string& text) const {
  const Api& api = context_.api();
  std::array<char, 4096> log{};
  std::array<int, 2> names = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  std::array<void*, 2> values = {log.data(), std::bit_cast<void*>(log.size() - 1)};
  CUlinkState state = nullptr;
  context_.check(api.cuLinkCreate(static_cast<unsigned>(names.size()), names.data(), values.data(), &state), "cuLinkCreate");
  struct Destroy {
    const Api& api;
    CUlinkState state;
    ~Destroy() { static_cast<void>(api.cuLinkDestroy(state)); }
  } destroy{api, state};
  const auto checked = [&](CUresult result, const char* call) {
    const bool refused = result == CUDA_ERROR_INVALID_PTX || result == CUDA_ERROR_NO_BINARY_FOR_GPU ||
                         result == CUDA_ERROR_UNSUPPORTED_PTX_VERSION || result == CUDA_ERROR_JIT_COMPILER_NOT_FOUND;
    if (refused && log[0] != '\0') {
      std::string_view said(log.data());
      while (!said.empty() && (said.back() == '\n' || said.back() == '.')) said.remove_suffix(1);
      throw DeviceError(
          fmt::format("the driver of device `{}` does not compile the program ({}). Fix: update the driver, or use backend "
                      "`vulkan` or `cpu`.",
                      context_.name(), said));
    }
    context_.check(result, call);
  };
  // The linker takes the text with the zero that ends it, and does not change it.
  checked(api.cuLinkAddData(state, CU_JIT_INPUT_PTX, const_cast<char*>(text.c_str()), text.size() + 1, "vyre", 0, nullptr, nullptr),
          "cuLinkAddData");
  void* code = nullptr;
  std::size_t bytes = 0;
  checked(api.cuLinkComplete(state, &code, &bytes), "cuLinkComplete");
  const auto* const first = static_cast<const std::byte*>(code);
  return {first, first + bytes};
}

Kernel::Made Kernel::loaded(std::vector<std::byte> code) const {
  const Api& api = context_.api();
  Made made{std::move(code), std::make_unique<Module>(context_), nullptr};
  context_.check(api.cuModuleLoadData(&made.module->handle, made.code.data()), "cuModuleLoadData");
  const std::string entry(ptx::kEntryPoint);
  context_.check(api.cuModuleGetFunction(&made.function, made.module->handle, entry.c_str()), "cuModuleGetFunction");
  const std::uint64_t shared = source_.code.bindings.shared_bytes;
  if (shared > kUsualSharedBytes) {
    context_.check(api.cuFuncSetAttribute(made.function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, static_cast<int>(shared)),
                   "cuFuncSetAttribute");
  }
  return made;
}

std::uint32_t Kernel::attribute(int which, CUfunction function) const {
  int value = 0;
  context_.check(context_.api().cuFuncGetAttribute(&value, which, function), "cuFuncGetAttribute");
  return static_cast<std::uint32_t>(value);
}

// The workgroups that a multiprocessor runs at once.
std::uint32_t Kernel::resident(CUfunction function) const {
  const auto& [x, y, z] = source_.code.bindings.workgroup_size;
  int workgroups = 0;
  context_.check(context_.api().cuOccupancyMaxActiveBlocksPerMultiprocessor(&workgroups, function, static_cast<int>(x * y * z),
                                                                            source_.code.bindings.shared_bytes),
                 "cuOccupancyMaxActiveBlocksPerMultiprocessor");
  return static_cast<std::uint32_t>(workgroups);
}

std::vector<DriverFact> Kernel::facts() const {
  struct Asked {
    int attribute;
    const char* name;
    const char* description;
  };
  constexpr Asked kAsked[] = {
      {CU_FUNC_ATTRIBUTE_NUM_REGS, "Register Count", "registers of an invocation"},
      {CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, "Local Memory Size",
       "bytes of memory of an invocation, for spilled registers and private arrays"},
      {CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, "Static Shared Memory Size", "bytes of workgroup memory that the code declares itself"},
      {CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES, "Constant Memory Size", "bytes of constants of the code"},
      {CU_FUNC_ATTRIBUTE_BINARY_VERSION, "Binary Version", "the compute capability that the code is for, times ten"},
  };
  const Current current(context_);
  std::vector<DriverFact> facts;
  for (const Asked& asked : kAsked) {
    facts.push_back({"main", asked.name, asked.description, std::to_string(attribute(asked.attribute, function_))});
    if (asked.attribute != CU_FUNC_ATTRIBUTE_NUM_REGS) continue;
    const std::vector<DriverFact> with_so_many = occupancy();
    facts.insert(facts.end(), with_so_many.begin(), with_so_many.end());
  }
  return facts;
}

std::vector<DriverFact> Kernel::occupancy() const {
  const auto& [x, y, z] = source_.code.bindings.workgroup_size;
  const std::uint32_t workgroups = resident(function_);
  const std::uint64_t invocations = std::uint64_t{x} * y * z * workgroups, most = context_.physical().max_resident;
  return {{"main", "Resident Workgroups", "workgroups that a multiprocessor runs at once", std::to_string(workgroups)},
          {"main", "Occupancy", "invocations that a multiprocessor runs at once, of as many as it has room for",
           fmt::format("{} of {}", invocations, most)}};
}

}  // namespace vyre::run::cuda
