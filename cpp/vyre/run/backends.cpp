#include "vyre/run/backends.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <memory>
#include <mutex>
#include <numeric>

#include "vyre/base/assert.hpp"
#include "vyre/base/error.hpp"
#include "vyre/base/fork.hpp"
#include "vyre/base/log.hpp"
#include "vyre/ir/text/parse.hpp"
#include "vyre/run/cpu/cpu.hpp"
#include "vyre/run/cuda/backend.hpp"
#include "vyre/run/profile.hpp"
#include "vyre/run/reference/reference.hpp"
#include "vyre/run/vulkan/backend.hpp"
#include "vyre/transform/passes.hpp"

namespace vyre::run {
namespace {

struct Candidate {
  const char* backend;
  const char* title;
  bool gpu = false;  // whether it has to be a GPU that the backend uses
};
// The choice of the default backend tries these in this order.
constexpr Candidate kOrder[] = {
    {"cuda", "CUDA"}, {"vulkan", "Vulkan on a GPU", true}, {"cpu", "cpu"}, {"vulkan", "software Vulkan"}, {"reference", "the reference"},
};

Backend* find(std::span<Backend* const> backends, std::string_view name) {
  const auto found = std::ranges::find(backends, name, &Backend::name);
  return found == backends.end() ? nullptr : *found;
}

bool is_gpu(const DeviceInfo& device) { return device.usable && device.kind != "software gpu" && device.kind != "cpu"; }

// Returns why the backend is not this candidate, or nothing if it is. A software device is not opened
// to learn that it is no GPU.
std::vector<std::string> reasons_against(const Candidate& candidate, Backend& backend) {
  if (!candidate.gpu) return backend.reasons_unavailable();
  std::vector<DeviceInfo> devices = backend.devices();
  if (devices.empty()) return backend.reasons_unavailable();
  if (std::ranges::any_of(devices, is_gpu)) {
    backend.reasons_unavailable();  // opens the GPUs until one works
    devices = backend.devices();
    if (std::ranges::any_of(devices, is_gpu)) return {};
  }
  std::vector<std::string> reasons;
  for (const DeviceInfo& device : devices) reasons.insert(reasons.end(), device.reasons.begin(), device.reasons.end());
  return reasons.empty() ? std::vector<std::string>{"it has software devices only"} : reasons;
}

constexpr std::uint32_t kWords = 1024;
constexpr std::uint32_t kFactor = 2654435761;
constexpr auto kPatience = std::chrono::seconds(60);

// Runs a small program on the default device of a backend. Returns what went wrong, or nothing if the
// bytes are right.
std::string trial(Backend& backend) {
  constexpr std::string_view kProgram = R"(vyre 1
workgroup_size 64 1 1
buffer x: read_write u32 binding 0

if gid.x < len(x) {
    x[gid.x] = rotl(x[gid.x] * 2654435761, gid.x & 31)
}
)";
  std::vector<std::uint32_t> words(kWords), wanted;
  std::iota(words.begin(), words.end(), 1u);
  for (std::uint32_t k = 0; k < kWords; ++k) wanted.push_back(std::rotl(words[k] * kFactor, static_cast<int>(k % 32)));
  const BufferView view{std::as_writable_bytes(std::span(words)), kWords};
  RunOptions options;
  options.timeout = kPatience;
  try {
    const validate::Verdict verdict = validate::validate(ir::parse(kProgram), {});
    backend.prepare(*verdict.program, backend.default_device(), {}, options)->run({&view, 1}, {kWords / 64, 1, 1}, options);
  } catch (const Error& error) {
    return error.what();
  }
  return words == wanted ? "" : "it gave wrong bytes. Fix: update its driver, or use another backend.";
}

// A message without its Fix, which stands where the backend itself is described.
std::string problem(const std::string& message) { return message.substr(0, message.find(". Fix: ")); }

}  // namespace

const std::vector<Backend*>& backends() {
  // Never destroyed: threads that outlive main may still wait for a device.
  static const std::vector<Backend*>& list = *new std::vector<Backend*>([] {
    return std::vector<Backend*>{
        make_vulkan_backend().release(),
        make_cuda_backend().release(),
        make_cpu_backend().release(),
        make_reference_backend().release(),
    };
  }());
  return list;
}

Backend* find_backend(std::string_view name) { return find(backends(), name); }

DefaultBackend choose_default(std::span<Backend* const> backends) {
  const Unprofiled unprofiled;  // profiles are about the user's calls
  DefaultBackend chosen;
  std::string passed_over;
  for (const Candidate& candidate : kOrder) {
    Backend* const backend = find(backends, candidate.backend);
    if (backend == nullptr || chosen.failed.contains(backend)) continue;
    std::string against;
    for (const std::string& reason : reasons_against(candidate, *backend)) against += (against.empty() ? "" : ", ") + problem(reason);
    if (against.empty()) {
      // The others are held against the reference, so nothing can be held against it.
      const std::string wrong = backend->name() == "reference" ? "" : trial(*backend);
      if (wrong.empty()) {
        chosen.backend = backend;
        chosen.why = candidate.title + std::string(" works here, and ") +
                     (passed_over.empty() ? "comes first" : "what comes before it does not: " + passed_over);
        return chosen;
      }
      log_warning(fmt::format("backend `{}` is passed over, because its first program failed: {}", backend->name(), wrong));
      chosen.failed[backend] = "the first program failed on backend `" + std::string(backend->name()) + "`: " + wrong;
      against = "its first program failed: " + problem(wrong);
    }
    passed_over += fmt::format("{}{} ({})", passed_over.empty() ? "" : ", ", candidate.title, against);
  }
  VYRE_ASSERT(false);
}

const DefaultBackend& default_backend() {
  static ForkSafeMutex mutex;
  static constinit const DefaultBackend* known = nullptr;  // never destroyed
  {
    const std::lock_guard lock(mutex);
    if (known != nullptr) return *known;
  }
  // Choosing opens devices, so no lock is held. If two threads choose, all take the first result.
  auto chosen = std::make_unique<const DefaultBackend>(choose_default(backends()));
  const std::lock_guard lock(mutex);
  if (known == nullptr) known = chosen.release();
  return *known;
}

std::vector<std::string> reasons_unavailable(Backend& backend, const DefaultBackend& chosen) {
  const auto failed = chosen.failed.find(&backend);
  return failed == chosen.failed.end() ? backend.reasons_unavailable() : std::vector{failed->second};
}

std::vector<Backend*> available_backends(std::span<Backend* const> backends, const DefaultBackend& chosen) {
  std::vector<Backend*> found;
  for (const Candidate& candidate : kOrder) {
    Backend* const backend = find(backends, candidate.backend);
    if (backend == nullptr || std::ranges::count(found, backend) != 0 || !reasons_unavailable(*backend, chosen).empty()) continue;
    if (!candidate.gpu || reasons_against(candidate, *backend).empty()) found.push_back(backend);
  }
  return found;
}

validate::ValidProgram with_passes(const validate::ValidProgram& program, const Backend& backend, const std::optional<Optimize>& optimize) {
  if (!optimize || !optimize->passes || backend.name() != "reference") return program;
  const Span span("optimize");
  return transform::optimize(program);
}

std::string schedule_text(const Schedule& schedule) {
  switch (schedule.order) {
    case Schedule::Order::InOrder:
      return "in-order";
    case Schedule::Order::Reversed:
      return "reversed";
    case Schedule::Order::Random:
      return fmt::format("random:{}", schedule.seed);
  }
  return {};
}

}  // namespace vyre::run
