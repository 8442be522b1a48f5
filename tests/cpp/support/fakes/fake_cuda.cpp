#include "support/fakes/fake_cuda.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <utility>

#include "vyre/ir/data_type.hpp"
#include "vyre/run/cpu/cpu.hpp"
#include "vyre/run/cuda/compile/kernel.hpp"
#include "vyre/run/gpu/grid_parts.hpp"

// Handles of the driver are pointers to what they stand for.
struct CUmod_st {
  std::string text;
};
struct CUfunc_st {
  CUmod_st* module;
};
struct CUgraph_st {
  struct Node {
    std::function<void()> work;
    std::set<std::size_t> after;
  };
  std::vector<Node> nodes;
};
struct CUstream_st {
  std::deque<std::function<void()>> work;
  std::shared_ptr<CUgraph_st> capturing;  // the graph that its operations are added to
  std::set<std::size_t> last;             // the nodes that the next one comes after
};
struct CUgraphExec_st {
  std::vector<std::function<void()>> work;
};
struct CUevent_st {
  bool done = true;
  std::int64_t time = 0;                 // at which the device came to it
  std::shared_ptr<CUgraph_st> captured;  // the graph in whose capture it was recorded
  std::set<std::size_t> last;            // the nodes that come before it
};
struct CUmemPoolHandle_st {};
struct CUlinkState_st {
  std::string text;
};
struct CUctx_st {
  int users = 0;
  CUresult lost = 0;  // what all calls give
};

namespace vyre::test {
namespace {

using namespace run::cuda;

enum Function {
#define FUNCTION(name, symbol, parameters) k_##name,
#include "vyre/run/cuda/api/functions.def"
  kFunctionCount
};
constexpr const char* kNames[] = {
#define FUNCTION(name, symbol, parameters) #name,
#include "vyre/run/cuda/api/functions.def"
};

// A kernel that the driver was told of.
struct Known {
  std::shared_ptr<run::Executable> program;
  std::vector<std::uint64_t> element_bytes;  // by buffer; a word for Bytes
  ptx::Bindings bindings;
  std::uint32_t ways = 1;  // of a coarsened one
  bool counted = false;
};

// A text without the line that limits registers, if there is one.
std::string unlimited(std::string text) {
  const std::size_t at = text.find(".minnctapersm ");
  return at == std::string::npos ? text : text.erase(at, text.find('\n', at) + 1 - at);
}

struct Books {
  std::recursive_mutex mutex;
  bool in_use = false;
  int devices = 1;
  int version = 13000;
  std::map<int, int> attributes;
  struct Call {
    int function;
    std::thread::id thread;
  };
  std::vector<Call> calls;
  std::atomic<int> stalled = -1;
  std::atomic<bool> is_stalled = false;
  int failing = -1, calls_until_failure = 0;
  CUresult failure = CUDA_SUCCESS;
  bool failed = false;
  bool holding = false;
  std::int64_t time = 0;  // of the device, in nanoseconds
  std::map<std::string, int> alive;
  std::map<std::string, Known> known;
  FakeCuda::Compiled plain, limited;
  std::string limit;  // the line that asks for `limited`
  std::vector<CUstream_st*> streams;
  std::vector<std::vector<std::size_t>> graph;  // the last one that was captured
};

Books books;
std::array<CUctx_st, 8> contexts;  // of each device
thread_local std::vector<CUcontext> current;

void do_first(CUstream_st& stream) {
  const std::function<void()> next = std::move(stream.work.front());
  stream.work.pop_front();
  next();
  books.time += FakeCuda::kOperationTime;
}

// Does what was enqueued, unless it is held.
void drain(CUstream_st& stream) {
  while (!books.holding && !stream.work.empty()) do_first(stream);
}

CUresult enqueue(CUstream stream, std::function<void()> work) {
  if (const std::shared_ptr<CUgraph_st>& graph = stream->capturing) {
    graph->nodes.push_back({std::move(work), std::exchange(stream->last, {graph->nodes.size()})});
    return CUDA_SUCCESS;
  }
  stream->work.push_back(std::move(work));
  drain(*stream);
  return CUDA_SUCCESS;
}

void* host(CUdeviceptr address) { return reinterpret_cast<void*>(address); }

template <class T>
T read(const std::vector<std::byte>& block, std::uint64_t offset) {
  T value;
  std::memcpy(&value, block.data() + offset, sizeof(value));
  return value;
}

void run(const Known& known, std::vector<std::byte> block, run::Grid groups) {
  if (known.bindings.in_memory()) {
    const auto* const memory = static_cast<const std::byte*>(host(read<CUdeviceptr>(block, 0)));
    block.assign(memory, memory + known.bindings.parameter_bytes);
  }
  std::vector<run::BufferView> views;
  for (std::size_t slot = 0; slot < known.element_bytes.size(); ++slot) {
    const auto length = read<std::uint32_t>(block, known.bindings.first_length + 4 * slot);
    const auto address = read<CUdeviceptr>(block, 8 * slot);
    if (length != 0 && address % known.element_bytes[slot] != 0) throw std::logic_error("a misaligned address was given to a kernel");
    views.push_back({{static_cast<std::byte*>(host(address)), length * known.element_bytes[slot]}, length});
  }
  std::array<std::uint32_t, 3> counts = {groups.x, groups.y, groups.z};
  for (std::size_t axis = 0; axis < 3; ++axis) counts[axis] += read<std::uint32_t>(block, known.bindings.first_group + 4 * axis);
  if (known.counted) {
    std::array<std::uint32_t, 3> most{};
    std::memcpy(most.data(), host(read<CUdeviceptr>(block, known.bindings.counts)), sizeof(most));
    for (std::size_t axis = 0; axis < 3; ++axis) counts[axis] = std::min(counts[axis], most[axis]);
  }
  run::RunOptions in_place;
  in_place.in_place = true;
  known.program->run(views, {counts[0] * known.ways, counts[1], counts[2]}, in_place);
}

// Counts of invocations to counts of workgroups: the kernel that the backend has of its own.
void count_groups(const std::vector<std::byte>& block, const std::string& text) {
  std::array<std::uint32_t, 3> counts{};
  std::memcpy(counts.data(), host(read<CUdeviceptr>(block, 0)), sizeof(counts));
  std::size_t at = 0;
  for (std::uint32_t& count : counts) {
    at = text.find("div.u32 %r1, %r0, ", at) + 18;
    const auto size = static_cast<std::uint32_t>(std::strtoul(text.c_str() + at, nullptr, 10));
    count = count / size + (count % size != 0 ? 1 : 0);
  }
  std::memcpy(host(read<CUdeviceptr>(block, 8)), counts.data(), sizeof(counts));
}

// --- What the functions do when they do not fail ---

CUresult do_cuInit(unsigned) { return books.devices == 0 ? CUDA_ERROR_NO_DEVICE : CUDA_SUCCESS; }
CUresult do_cuDriverGetVersion(int* version) { return *version = books.version, CUDA_SUCCESS; }
CUresult do_cuGetErrorName(CUresult, const char** name) { return *name = "CUDA_ERROR_OF_THE_TEST", CUDA_SUCCESS; }
CUresult do_cuDeviceGetCount(int* count) { return *count = books.devices, CUDA_SUCCESS; }
CUresult do_cuDeviceGet(CUdevice* device, int ordinal) { return *device = ordinal, CUDA_SUCCESS; }
CUresult do_cuDeviceGetName(char* name, int bytes, CUdevice device) {
  const std::string text = fmt::format("Fake {}", device);
  std::strncpy(name, text.c_str(), static_cast<std::size_t>(bytes));
  return CUDA_SUCCESS;
}
CUresult do_cuDeviceGetAttribute(int* value, int which, CUdevice) {
  const auto found = books.attributes.find(which);
  *value = found == books.attributes.end() ? 0 : found->second;
  return CUDA_SUCCESS;
}
CUresult do_cuDeviceTotalMem(std::size_t* bytes, CUdevice) { return *bytes = std::size_t{1} << 32, CUDA_SUCCESS; }
CUresult do_cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  CUctx_st& found = contexts.at(static_cast<std::size_t>(device));
  if (found.users++ == 0) found.lost = CUDA_SUCCESS;
  return ++books.alive["context"], *context = &found, CUDA_SUCCESS;
}
CUresult do_cuDevicePrimaryCtxRelease(CUdevice device) {
  return --contexts.at(static_cast<std::size_t>(device)).users, --books.alive["context"], CUDA_SUCCESS;
}
CUresult do_cuCtxGetCurrent(CUcontext* context) { return *context = current.empty() ? nullptr : current.back(), CUDA_SUCCESS; }
CUresult do_cuCtxPushCurrent(CUcontext context) { return current.push_back(context), CUDA_SUCCESS; }
CUresult do_cuCtxPopCurrent(CUcontext* context) {
  *context = current.back();
  current.pop_back();
  return CUDA_SUCCESS;
}
CUresult do_cuStreamCreate(CUstream* stream, unsigned) {
  books.streams.push_back(*stream = new CUstream_st);
  return ++books.alive["stream"], CUDA_SUCCESS;
}
CUresult do_cuStreamDestroy(CUstream stream) {
  std::erase(books.streams, stream);
  delete stream;
  return --books.alive["stream"], CUDA_SUCCESS;
}
CUresult do_cuStreamQuery(CUstream stream) { return stream->work.empty() ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY; }
CUresult do_cuEventCreate(CUevent* event, unsigned) { return ++books.alive["event"], *event = new CUevent_st, CUDA_SUCCESS; }
CUresult do_cuEventDestroy(CUevent event) { return delete event, --books.alive["event"], CUDA_SUCCESS; }
CUresult do_cuEventRecord(CUevent event, CUstream stream) {
  event->captured = stream == nullptr ? nullptr : stream->capturing;
  if (event->captured != nullptr) return event->last = stream->last, CUDA_SUCCESS;
  event->done = stream == nullptr;  // the default stream, on which nothing is enqueued here
  if (stream == nullptr) return CUDA_SUCCESS;
  return enqueue(stream, [event] {
    event->done = true;
    event->time = books.time;
    books.time -= FakeCuda::kOperationTime;  // an event takes no time
  });
}
CUresult do_cuEventQuery(CUevent event) { return event->done ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY; }
CUresult do_cuStreamWaitEvent(CUstream stream, CUevent event, unsigned) {
  if (event->captured == nullptr) return CUDA_SUCCESS;
  stream->capturing = event->captured;
  stream->last.insert(event->last.begin(), event->last.end());
  return CUDA_SUCCESS;
}
CUresult do_cuCtxSynchronize() { return CUDA_SUCCESS; }
CUresult do_cuEventElapsedTime(float* milliseconds, CUevent first, CUevent second) {
  if (!first->done || !second->done) return CUDA_ERROR_NOT_READY;
  return *milliseconds = static_cast<float>(static_cast<double>(second->time - first->time) / 1e6), CUDA_SUCCESS;
}
CUresult do_cuMemPoolCreate(CUmemoryPool* pool, const CUmemPoolProps*) {
  return ++books.alive["pool"], *pool = new CUmemPoolHandle_st, CUDA_SUCCESS;
}
CUresult do_cuMemPoolDestroy(CUmemoryPool pool) { return delete pool, --books.alive["pool"], CUDA_SUCCESS; }
CUresult do_cuMemPoolSetAttribute(CUmemoryPool, int, void*) { return CUDA_SUCCESS; }
CUresult do_cuMemPoolTrimTo(CUmemoryPool, std::size_t) { return CUDA_SUCCESS; }
CUresult do_cuMemAllocFromPoolAsync(CUdeviceptr* address, std::size_t bytes, CUmemoryPool, CUstream) {
  const auto is_capturing = [](const CUstream_st* stream) { return stream->capturing != nullptr; };
  if (std::ranges::any_of(books.streams, is_capturing)) return 900;  // CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
  void* const memory = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  std::memset(memory, 0xCD, bytes);
  *address = reinterpret_cast<CUdeviceptr>(memory);
  return ++books.alive["memory"], CUDA_SUCCESS;
}
CUresult do_cuMemFreeAsync(CUdeviceptr address, CUstream stream) {
  --books.alive["memory"];
  return enqueue(stream, [address] { std::free(host(address)); });
}
CUresult do_cuPointerGetAttribute(void* value, int, CUdeviceptr address) {
  if (address == 0) return CUDA_ERROR_INVALID_VALUE;
  return *static_cast<int*>(value) = 0, CUDA_SUCCESS;
}
CUresult do_cuMemHostAlloc(void** memory, std::size_t bytes, unsigned) {
  return ++books.alive["pinned"], *memory = std::malloc(bytes), CUDA_SUCCESS;
}
CUresult do_cuMemFreeHost(void* memory) { return std::free(memory), --books.alive["pinned"], CUDA_SUCCESS; }
CUresult do_cuMemcpyHtoDAsync(CUdeviceptr to, const void* from, std::size_t bytes, CUstream stream) {
  // Small copies take the host's bytes at once; from pinned memory the device copies when it comes to it.
  if (bytes > 65536) return enqueue(stream, [=] { std::memcpy(host(to), from, bytes); });
  const auto* const first = static_cast<const std::byte*>(from);
  return enqueue(stream, [to, taken = std::vector<std::byte>(first, first + bytes)] { std::memcpy(host(to), taken.data(), taken.size()); });
}
CUresult do_cuMemcpyDtoHAsync(void* to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  return enqueue(stream, [=] { std::memcpy(to, host(from), bytes); });
}
CUresult do_cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  return enqueue(stream, [=] { std::memmove(host(to), host(from), bytes); });
}
CUresult do_cuMemsetD8Async(CUdeviceptr to, unsigned char value, std::size_t bytes, CUstream stream) {
  return enqueue(stream, [=] { std::memset(host(to), value, bytes); });
}
CUresult do_cuLinkCreate(unsigned, int*, void**, CUlinkState* state) {
  return ++books.alive["linker"], *state = new CUlinkState_st, CUDA_SUCCESS;
}
CUresult do_cuLinkAddData(CUlinkState state, int, void* data, std::size_t bytes, const char*, unsigned, int*, void**) {
  state->text.assign(static_cast<const char*>(data), bytes);
  return CUDA_SUCCESS;
}
CUresult do_cuLinkComplete(CUlinkState state, void** code, std::size_t* bytes) {
  *code = state->text.data();
  *bytes = state->text.size();
  return CUDA_SUCCESS;
}
CUresult do_cuLinkDestroy(CUlinkState state) { return delete state, --books.alive["linker"], CUDA_SUCCESS; }
CUresult do_cuModuleLoadData(CUmodule* module, const void* code) {
  const auto* const text = static_cast<const char*>(code);
  if (std::strncmp(text, "//", 2) != 0) return CUDA_ERROR_INVALID_IMAGE;
  *module = new CUmod_st{text};
  return ++books.alive["module"], CUDA_SUCCESS;
}
CUresult do_cuModuleUnload(CUmodule module) { return delete module, --books.alive["module"], CUDA_SUCCESS; }
CUresult do_cuModuleGetFunction(CUfunction* function, CUmodule module, const char*) {
  static std::map<CUmodule, std::unique_ptr<CUfunc_st>> functions;
  functions[module] = std::make_unique<CUfunc_st>(CUfunc_st{module});
  *function = functions[module].get();
  return CUDA_SUCCESS;
}
const FakeCuda::Compiled& compiled_to(CUfunction function) {
  const bool limited = !books.limit.empty() && function->module->text.find(books.limit) != std::string::npos;
  return limited ? books.limited : books.plain;
}
CUresult do_cuFuncGetAttribute(int* value, int attribute, CUfunction function) {
  const FakeCuda::Compiled& compiled = compiled_to(function);
  *value = attribute == CU_FUNC_ATTRIBUTE_NUM_REGS           ? compiled.registers
           : attribute == CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES ? compiled.local_bytes
                                                             : 10 * attribute;
  return CUDA_SUCCESS;
}
CUresult do_cuFuncSetAttribute(CUfunction, int, int) { return CUDA_SUCCESS; }
// A multiprocessor has 2^16 registers, of which an invocation takes as many as do_cuFuncGetAttribute() says.
CUresult do_cuOccupancyMaxActiveBlocksPerMultiprocessor(int* workgroups, CUfunction function, int size, std::size_t shared) {
  *workgroups = 65536 / (compiled_to(function).registers * size);
  if (shared != 0) *workgroups = std::min(*workgroups, static_cast<int>(233472 / shared));
  return CUDA_SUCCESS;
}
CUresult do_cuLaunchKernel(CUfunction function, unsigned x, unsigned y, unsigned z, unsigned, unsigned, unsigned, unsigned, CUstream stream,
                           void** parameters, void**) {
  const std::string text = unlimited(function->module->text);
  const auto known = books.known.find(text);
  const bool counts = text.starts_with("// parameters: the address of three counts of invocations");
  const std::size_t bytes = counts                               ? 16
                            : known == books.known.end()         ? 0
                            : known->second.bindings.in_memory() ? 8
                                                                 : known->second.bindings.parameter_bytes;
  const auto* const first = static_cast<const std::byte*>(parameters[0]);
  std::vector<std::byte> block(first, first + bytes);
  if (counts) return enqueue(stream, [block, text] { count_groups(block, text); });
  if (known == books.known.end()) return CUDA_SUCCESS;
  return enqueue(stream, [block, &of = known->second, x, y, z] { run(of, block, {x, y, z}); });
}

CUresult do_cuStreamBeginCapture(CUstream stream, int) { return stream->capturing = std::make_shared<CUgraph_st>(), CUDA_SUCCESS; }

// Whether the nodes are among those, or come before them.
bool come_before(const CUgraph_st& graph, const std::set<std::size_t>& nodes, std::set<std::size_t> those) {
  for (std::size_t node = graph.nodes.size(); node-- > 0;) {
    if (those.contains(node)) those.insert(graph.nodes[node].after.begin(), graph.nodes[node].after.end());
  }
  return std::ranges::includes(those, nodes);
}

CUresult do_cuStreamEndCapture(CUstream stream, CUgraph* graph) {
  const std::shared_ptr<CUgraph_st> made = stream->capturing;
  bool joined = true;
  for (CUstream_st* other : books.streams) {
    if (other->capturing != made) continue;
    joined = joined && come_before(*made, other->last, stream->last);
  }
  for (CUstream_st* other : books.streams) {
    if (other->capturing == made) *other = {std::move(other->work), nullptr, {}};
  }
  if (!joined) return 904;  // CUDA_ERROR_STREAM_CAPTURE_UNJOINED
  books.graph.clear();
  for (const CUgraph_st::Node& node : made->nodes) books.graph.emplace_back(node.after.begin(), node.after.end());
  *graph = new CUgraph_st(*made);
  return ++books.alive["graph"], CUDA_SUCCESS;
}

// An instance runs the nodes that were captured last as early as it may.
CUresult do_cuGraphInstantiate(CUgraphExec* exec, CUgraph graph, unsigned long long) {
  auto made = std::make_unique<CUgraphExec_st>();
  std::vector<bool> done(graph->nodes.size(), false);
  while (made->work.size() < done.size()) {
    std::size_t next = done.size();
    for (std::size_t node = 0; node < done.size(); ++node) {
      const auto is_done = [&](std::size_t before) { return done[before]; };
      if (!done[node] && std::ranges::all_of(graph->nodes[node].after, is_done)) next = node;
    }
    done.at(next) = true;
    made->work.push_back(graph->nodes[next].work);
  }
  *exec = made.release();
  return ++books.alive["instance of a graph"], CUDA_SUCCESS;
}
CUresult do_cuGraphLaunch(CUgraphExec exec, CUstream stream) {
  for (const auto& work : exec->work) enqueue(stream, work);
  return CUDA_SUCCESS;
}
CUresult do_cuGraphExecDestroy(CUgraphExec exec) { return delete exec, --books.alive["instance of a graph"], CUDA_SUCCESS; }
CUresult do_cuGraphDestroy(CUgraph graph) { return delete graph, --books.alive["graph"], CUDA_SUCCESS; }

// --- The functions themselves ---

// What a call gives because its context is lost.
CUresult lost_by(int function) {
  const std::string_view name = kNames[function];
  const bool takes_context = name != "cuCtxSynchronize" && (name.starts_with("cuCtx") || name.starts_with("cuDevice"));
  const bool takes_none = name == "cuInit" || name == "cuDriverGetVersion" || name == "cuGetErrorName";
  return takes_context || takes_none || current.empty() || current.back() == nullptr ? CUDA_SUCCESS : current.back()->lost;
}

template <int kFunction, auto kDo>
struct Faked;
template <int kFunction, class... Parameters, CUresult (*kDo)(Parameters...)>
struct Faked<kFunction, kDo> {
  static CUresult call(Parameters... parameters) {
    while (books.stalled == kFunction) {
      books.is_stalled = true;
      std::this_thread::yield();
    }
    const std::lock_guard lock(books.mutex);
    books.calls.push_back({kFunction, std::this_thread::get_id()});
    if (const CUresult lost = lost_by(kFunction); lost != CUDA_SUCCESS) return lost;
    if (books.failing == kFunction && --books.calls_until_failure == 0) {
      books.failing = -1;
      books.failed = true;
      return books.failure;
    }
    return kDo(parameters...);
  }
};

void* find(const char* wanted) {
  const std::string_view text = wanted;
#define FUNCTION(name, symbol, parameters) \
  if (text == symbol) return reinterpret_cast<void*>(&Faked<k_##name, &do_##name>::call);
#include "vyre/run/cuda/api/functions.def"
  return nullptr;
}

int index_of(std::string_view name) {
  for (int index = 0; index < kFunctionCount; ++index) {
    if (name == kNames[index]) return index;
  }
  throw std::invalid_argument("no such function in the table: " + std::string(name));
}

}  // namespace

FakeCuda::FakeCuda(int devices) {
  if (books.in_use) throw std::logic_error("one FakeCuda at a time");
  books.in_use = true;
  books.devices = devices;
  books.attributes = {{CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024},
                      {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, 1024},
                      {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X + 1, 1024},
                      {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X + 2, 64},
                      {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, 0x7FFFFFFF},
                      {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X + 1, 65535},
                      {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X + 2, 65535},
                      {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, 2048},
                      {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 9},
                      {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 232448},
                      {CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, 1},
                      {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, 65536},
                      {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 233472}};
}

FakeCuda::~FakeCuda() {
  const std::lock_guard lock(books.mutex);
  books.in_use = false;
  books.version = 13000;
  books.calls.clear();
  books.failing = -1;
  books.failed = books.holding = false;
  books.time = 0;
  books.alive.clear();
  // A device that is kept until the process ends has work that refers to what is known now.
  for (CUstream_st* stream : books.streams) stream->work.clear();
  books.streams.clear();
  books.known.clear();
  books.plain = books.limited = {};
  books.limit.clear();
  contexts = {};
}

Library FakeCuda::library() const { return {&find, {}}; }

std::vector<std::string> FakeCuda::functions() { return {std::begin(kNames), std::end(kNames)}; }

void FakeCuda::knows(const validate::ValidProgram& program, const run::Optimize& optimize) {
  static const std::unique_ptr<run::Backend> cpu = run::make_cpu_backend();
  const std::shared_ptr<run::Executable> executable = cpu->prepare(program, std::nullopt, optimize);
  const auto add = [&](const Source& source, std::uint32_t ways) {
    Known known{executable, {}, source.code.bindings, ways, source.counted_grid};
    for (const BufferId buffer : program.bound()) {
      const ir::DataType element = program.program().buffers()[buffer.index].element;
      known.element_bytes.push_back(element == ir::DataType::Bytes ? 4 : ir::min_bytes(element));
    }
    const std::lock_guard lock(books.mutex);
    books.known.insert_or_assign(source.code.text, known);
  };
  add(translate(program, optimize, false), 1);
  add(translate(program, optimize, true), 1);
  if (const auto coarse = translate_coarsened(program, run::kCoarseFactor, optimize)) add(*coarse, run::kCoarseFactor);
}

void FakeCuda::fail(std::string_view function, int nth, CUresult result) {
  const std::lock_guard lock(books.mutex);
  books.failing = index_of(function);
  books.calls_until_failure = nth;
  books.failure = result;
  books.failed = false;
}

void FakeCuda::work() {
  const std::lock_guard lock(books.mutex);
  books.failing = -1;
}

bool FakeCuda::failed() const {
  const std::lock_guard lock(books.mutex);
  return books.failed;
}

void FakeCuda::hold() {
  const std::lock_guard lock(books.mutex);
  books.holding = true;
}

void FakeCuda::release() {
  const std::lock_guard lock(books.mutex);
  books.holding = false;
  for (CUstream_st* stream : books.streams) drain(*stream);
}

void FakeCuda::let_pass(int operations) {
  const std::lock_guard lock(books.mutex);
  for (CUstream_st* stream : books.streams) {
    for (int done = 0; done < operations && !stream->work.empty(); ++done) do_first(*stream);
  }
}

void FakeCuda::lose(int device, CUresult result) {
  const std::lock_guard lock(books.mutex);
  contexts.at(static_cast<std::size_t>(device)).lost = result;
}

std::vector<std::vector<std::size_t>> FakeCuda::last_graph() const {
  const std::lock_guard lock(books.mutex);
  return books.graph;
}

void FakeCuda::pass_time(std::int64_t nanoseconds) {
  const std::lock_guard lock(books.mutex);
  books.time += nanoseconds;
}

std::int64_t FakeCuda::time() const {
  const std::lock_guard lock(books.mutex);
  return books.time;
}

void FakeCuda::set_attribute(int attribute, int value) { books.attributes[attribute] = value; }
void FakeCuda::set_compiled(const Compiled& plain, int workgroups, const Compiled& limited) {
  books.plain = plain;
  books.limited = limited;
  books.limit = fmt::format("\n.minnctapersm {}\n", workgroups);
}
void FakeCuda::set_version(int version) { books.version = version; }

int FakeCuda::calls(std::string_view function) const {
  const std::lock_guard lock(books.mutex);
  return static_cast<int>(std::ranges::count(books.calls, index_of(function), &Books::Call::function));
}

int FakeCuda::calls_elsewhere(std::string_view function) const {
  const std::lock_guard lock(books.mutex);
  return static_cast<int>(std::ranges::count_if(books.calls, [wanted = index_of(function)](const Books::Call& call) {
    return call.function == wanted && call.thread != std::this_thread::get_id();
  }));
}

std::vector<std::string> FakeCuda::order(const std::vector<std::string>& functions) const {
  const std::lock_guard lock(books.mutex);
  std::vector<std::string> names;
  for (const Books::Call& call : books.calls) {
    if (std::ranges::find(functions, kNames[call.function]) != functions.end()) names.emplace_back(kNames[call.function]);
  }
  return names;
}

void FakeCuda::stall(std::string_view function) {
  books.is_stalled = false;
  books.stalled = index_of(function);
}

void FakeCuda::wait_until_stalled() const {
  while (!books.is_stalled) std::this_thread::yield();
}

void FakeCuda::resume() { books.stalled = -1; }

void FakeCuda::forget_calls() {
  const std::lock_guard lock(books.mutex);
  books.calls.clear();
}

std::vector<std::string> FakeCuda::leaks() const {
  const std::lock_guard lock(books.mutex);
  std::vector<std::string> lines;
  for (const auto& [kind, count] : books.alive) {
    if (count != 0) lines.push_back(fmt::format("{}: {}", kind, count));
  }
  return lines;
}

}  // namespace vyre::test
