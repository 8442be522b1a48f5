#if VYRE_HAS_SPIRV

#include "support/fakes/failing_vulkan.hpp"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <set>
#include <stdexcept>
#include <tuple>
#include <type_traits>

namespace vyre::test {
namespace {

// clang-format off
enum Function {
#define GLOBAL(name) k_##name,
#define INSTANCE(name) k_##name,
#define DEVICE(name) k_##name,
#include "vyre/run/vulkan/api/functions.def"
  kFunctionCount
};

constexpr const char* kNames[] = {
#define GLOBAL(name) #name,
#define INSTANCE(name) #name,
#define DEVICE(name) #name,
#include "vyre/run/vulkan/api/functions.def"
};
// clang-format on

template <class F>
struct ResultOf;
template <class R, class... A>
struct ResultOf<R (*)(A...)> {
  using type = R;
};

// clang-format off
constexpr bool kFallible[] = {
#define GLOBAL(name) std::is_same_v<ResultOf<PFN_##name>::type, VkResult>,
#define INSTANCE(name) std::is_same_v<ResultOf<PFN_##name>::type, VkResult>,
#define DEVICE(name) std::is_same_v<ResultOf<PFN_##name>::type, VkResult>,
#include "vyre/run/vulkan/api/functions.def"
};
// clang-format on

struct Books {
  std::recursive_mutex mutex;
  bool in_use = false;
  PFN_vkGetInstanceProcAddr find = nullptr;
  std::array<PFN_vkVoidFunction, kFunctionCount> real{};
  std::array<int, kFunctionCount> calls{};
  std::map<std::string, int> alive;
  std::condition_variable_any counted;
  std::map<std::string, std::function<void(void*)>> changes;
  std::set<std::string> hidden;
  int failing = -1;
  int calls_until_failure = 0;
  VkResult failure = VK_SUCCESS;
  bool failed = false;
  bool no_devices = false;
  bool holding = false;
  std::set<VkSemaphore> held;
  bool only_waiting_tells = false;
  bool keeps_pipelines = false;
  bool tells = false;
  std::vector<std::string> given;
  std::map<VkPipelineCache, std::string> kept;
  void (*inside)(bool) = nullptr;
};

Books books;

// Where held calls wait.
struct Gate {
  std::mutex mutex;
  std::condition_variable changed;
  int closed = -1;
  int waiting = 0;
  int opened = 0;  // how often: one that waited goes on, also when the gate was closed again

  void pass(int function) {
    std::unique_lock lock(mutex);
    if (closed != function) return;
    ++waiting;
    changed.notify_all();
    changed.wait(lock, [&, before = opened] { return opened != before; });
  }
  void close(int function) {
    const std::lock_guard lock(mutex);
    closed = function;
  }
  void open() {
    const std::lock_guard lock(mutex);
    closed = -1;
    waiting = 0;
    ++opened;
    changed.notify_all();
  }
};

Gate gate;

int index_of(std::string_view name) {
  for (int i = 0; i < kFunctionCount; ++i) {
    if (name == kNames[i]) return i;
  }
  throw std::invalid_argument("no such Vulkan function in the table: " + std::string(name));
}

bool starts_with(std::string_view text, std::string_view start) { return text.substr(0, start.size()) == start; }

void count_object(std::string_view name) {
  if (name == "vkCreateComputePipelines") {
    ++books.alive["Pipeline"];
  } else if (name == "vkAllocateMemory") {
    ++books.alive["Memory"];
  } else if (starts_with(name, "vkCreate")) {
    ++books.alive[std::string(name.substr(8))];
  } else if (name == "vkFreeMemory") {
    --books.alive["Memory"];
  } else if (starts_with(name, "vkDestroy")) {
    --books.alive[std::string(name.substr(9))];
  }
}

template <class T>
void* as_pointer(T value) {
  if constexpr (std::is_pointer_v<T> && !std::is_const_v<std::remove_pointer_t<T>>) {
    return value;
  } else {
    return nullptr;
  }
}

struct Inside {
  Inside() {
    if (books.inside != nullptr) books.inside(true);
  }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
  ~Inside() {
    if (books.inside != nullptr) books.inside(false);
  }
};

VkResult create_keeping_cache(PFN_vkCreatePipelineCache real, VkDevice device, const VkPipelineCacheCreateInfo* create,
                              const VkAllocationCallbacks* allocator, VkPipelineCache* cache) {
  const std::string given(static_cast<const char*>(create->pInitialData), create->initialDataSize);
  VkPipelineCacheCreateInfo empty = *create;
  empty.initialDataSize = 0;
  empty.pInitialData = nullptr;
  const VkResult result = real(device, &empty, allocator, cache);
  if (result != VK_SUCCESS) return result;
  count_object("vkCreatePipelineCache");
  books.given.push_back(given);
  books.kept[*cache] =
      given.empty() ? std::string(sizeof(VkPipelineCacheHeaderVersionOne), 'h') + "pipeline " + std::to_string(books.given.size()) : given;
  return result;
}

VkResult give_kept(VkPipelineCache cache, std::size_t* size, void* data) {
  const std::string& kept = books.kept.at(cache);
  if (data != nullptr) std::memcpy(data, kept.data(), std::min(kept.size(), *size));
  *size = kept.size();
  return VK_SUCCESS;
}

// Creates a device without the extension and the feature that only the stand-ins below have.
VkResult create_device(PFN_vkCreateDevice real, VkPhysicalDevice physical, const VkDeviceCreateInfo* create,
                       const VkAllocationCallbacks* allocator, VkDevice* device) {
  std::vector<const char*> extensions(create->ppEnabledExtensionNames, create->ppEnabledExtensionNames + create->enabledExtensionCount);
  std::erase_if(extensions,
                [](const char* name) { return std::string_view(name) == VK_KHR_PIPELINE_EXECUTABLE_PROPERTIES_EXTENSION_NAME; });
  VkDeviceCreateInfo without = *create;
  auto* before = reinterpret_cast<VkBaseOutStructure*>(&without);
  while (before->pNext != nullptr) {
    if (before->pNext->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_EXECUTABLE_PROPERTIES_FEATURES_KHR) {
      before->pNext = before->pNext->pNext;
    } else {
      before = before->pNext;
    }
  }
  without.enabledExtensionCount = static_cast<std::uint32_t>(extensions.size());
  without.ppEnabledExtensionNames = extensions.data();
  return real(physical, &without, allocator, device);
}

VkResult tell_parts(std::uint32_t* count, VkPipelineExecutablePropertiesKHR* parts) {
  *count = 1;
  if (parts != nullptr) std::strcpy(parts->name, "main");
  return VK_SUCCESS;
}

VkResult tell_statistics_of_part(std::uint32_t* count, VkPipelineExecutableStatisticKHR* list) {
  *count = 4;
  if (list == nullptr) return VK_SUCCESS;
  const char* const names[] = {"Registers", "Spills", "Occupancy", "Ratio"};
  for (int k = 0; k < 4; ++k) {
    std::strcpy(list[k].name, names[k]);
    std::strcpy(list[k].description, "told");
    list[k].format = static_cast<VkPipelineExecutableStatisticFormatKHR>((k + 2) % 4);
  }
  list[0].value.u64 = 40;
  list[1].value.f64 = 0.5;
  list[2].value.b32 = VK_TRUE;
  list[3].value.i64 = -3;
  return VK_SUCCESS;
}

// What stands in for the function number kIndex.
template <int kIndex, class R, class... A>
VKAPI_ATTR R VKAPI_CALL stand_in(A... arguments) {
  const Inside inside;
  gate.pass(kIndex);
  PFN_vkVoidFunction real;
  [[maybe_unused]] bool without_extension = false;
  {
    const std::lock_guard lock(books.mutex);
    ++books.calls[kIndex];
    real = books.real[kIndex];
    if (books.failing == kIndex && --books.calls_until_failure == 0) {
      books.failed = true;
      // A device that is lost has ended its work, whatever it answers.
      if constexpr (kIndex == k_vkDeviceWaitIdle) reinterpret_cast<R (*)(A...)>(real)(arguments...);
      if constexpr (std::is_same_v<R, VkResult>) return books.failure;
      if constexpr (std::is_void_v<R>) return;
    }
    const auto all = std::tuple(arguments...);
    if constexpr (kIndex == k_vkQueueSubmit) {
      const VkSubmitInfo& submission = *std::get<2>(all);
      if (books.holding) books.held.insert(submission.pSignalSemaphores, submission.pSignalSemaphores + submission.signalSemaphoreCount);
    } else if constexpr (kIndex == k_vkEnumeratePhysicalDevices) {
      if (books.no_devices) {
        *std::get<1>(all) = 0;
        return VK_SUCCESS;
      }
    } else if constexpr (kIndex == k_vkGetSemaphoreCounterValue) {
      if (books.only_waiting_tells || books.held.count(std::get<1>(all)) != 0) {
        *std::get<2>(all) = 0;
        return VK_SUCCESS;
      }
    } else if constexpr (kIndex == k_vkWaitSemaphores) {
      if (books.held.count(*std::get<1>(all)->pSemaphores) != 0) return VK_TIMEOUT;
    } else if constexpr (kIndex == k_vkCreatePipelineCache) {
      if (books.keeps_pipelines) return create_keeping_cache(reinterpret_cast<PFN_vkCreatePipelineCache>(real), arguments...);
    } else if constexpr (kIndex == k_vkCreateDevice) {
      without_extension = books.tells;
    } else if constexpr (kIndex == k_vkGetPipelineExecutablePropertiesKHR) {
      if (books.tells) return tell_parts(std::get<2>(all), std::get<3>(all));
    } else if constexpr (kIndex == k_vkGetPipelineExecutableStatisticsKHR) {
      if (books.tells) return tell_statistics_of_part(std::get<2>(all), std::get<3>(all));
    } else if constexpr (kIndex == k_vkGetPipelineCacheData) {
      if (books.keeps_pipelines) return give_kept(std::get<1>(all), std::get<2>(all), std::get<3>(all));
    }
  }
  const auto forward = [&](A... given) -> R {
    // The loader asks for functions while it makes a device, so no lock is held here.
    if constexpr (kIndex == k_vkCreateDevice) {
      if (without_extension) return create_device(reinterpret_cast<PFN_vkCreateDevice>(real), given...);
    }
    return reinterpret_cast<R (*)(A...)>(real)(given...);
  };
  const auto note = [&] {
    const std::lock_guard lock(books.mutex);
    count_object(kNames[kIndex]);
    books.counted.notify_all();
    if (const auto change = books.changes.find(kNames[kIndex]); change != books.changes.end()) {
      const auto all = std::tuple(arguments...);
      const auto last = std::get<sizeof...(A) - 1>(all);
      if constexpr (kIndex == k_vkGetPhysicalDeviceQueueFamilyProperties) {
        for (std::uint32_t i = 0; last != nullptr && i < *std::get<1>(all); ++i) change->second(last + i);
      } else if constexpr (kIndex == k_vkEnumerateDeviceExtensionProperties) {
        for (std::uint32_t i = 0; last != nullptr && i < *std::get<2>(all); ++i) change->second(last + i);
      } else if (void* out = as_pointer(last)) {
        change->second(out);
      }
    }
  };
  if constexpr (std::is_void_v<R>) {
    forward(arguments...);
    note();
  } else {
    const R result = forward(arguments...);
    if constexpr (std::is_same_v<R, VkResult>) {
      if (result >= 0) note();
    }
    return result;
  }
}

template <int kIndex, class F>
struct StandIn;
template <int kIndex, class R, class... A>
struct StandIn<kIndex, R (*)(A...)> {
  static PFN_vkVoidFunction function() { return reinterpret_cast<PFN_vkVoidFunction>(&stand_in<kIndex, R, A...>); }
};

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL find_device(VkDevice, const char* name);
VKAPI_ATTR VkResult VKAPI_CALL create_instance(const VkInstanceCreateInfo* create, const VkAllocationCallbacks* allocator,
                                               VkInstance* instance);

PFN_vkVoidFunction function_of(int index) {
  // These two must know the real functions; the failures of the first are those of its stand-in.
  if (index == k_vkGetDeviceProcAddr) return reinterpret_cast<PFN_vkVoidFunction>(&find_device);
  if (index == k_vkCreateInstance) return reinterpret_cast<PFN_vkVoidFunction>(&create_instance);
  // clang-format off
  static const PFN_vkVoidFunction functions[] = {
#define GLOBAL(name) StandIn<k_##name, PFN_##name>::function(),
#define INSTANCE(name) StandIn<k_##name, PFN_##name>::function(),
#define DEVICE(name) StandIn<k_##name, PFN_##name>::function(),
#include "vyre/run/vulkan/api/functions.def"
  };
  // clang-format on
  return functions[index];
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL find_instance(VkInstance, const char* name) {
  const Inside inside;
  const std::lock_guard lock(books.mutex);
  if (books.hidden.count(name) != 0) return nullptr;
  return function_of(index_of(name));
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL find_device(VkDevice, const char* name) { return find_instance(nullptr, name); }

VKAPI_ATTR VkResult VKAPI_CALL create_instance(const VkInstanceCreateInfo* create, const VkAllocationCallbacks* allocator,
                                               VkInstance* instance) {
  const VkResult result = stand_in<k_vkCreateInstance, VkResult>(create, allocator, instance);
  if (result == VK_SUCCESS) {
    const Inside inside;
    // Found with an instance, the loader's functions serve every device, whichever driver it is of.
    const std::lock_guard lock(books.mutex);
    for (int i = 0; i < kFunctionCount; ++i) {
      if (PFN_vkVoidFunction real = books.find(*instance, kNames[i])) books.real[i] = real;
    }
  }
  return result;
}

}  // namespace

FailingVulkan::FailingVulkan() {
  const std::lock_guard lock(books.mutex);
  if (books.in_use) throw std::logic_error("one failing Vulkan at a time");
  books.in_use = true;
  books.find = run::vulkan::system_loader().find;
  books.real = {};
  books.calls = {};
  books.alive.clear();
  books.changes.clear();
  books.hidden.clear();
  books.failing = -1;
  books.failed = false;
  books.no_devices = false;
  books.holding = false;
  books.held.clear();
  books.only_waiting_tells = false;
  books.keeps_pipelines = false;
  books.tells = false;
  books.given.clear();
  books.kept.clear();
  books.inside = nullptr;
  if (books.find == nullptr) return;
  for (int i = 0; i < kFunctionCount; ++i) books.real[i] = books.find(nullptr, kNames[i]);
}

FailingVulkan::~FailingVulkan() {
  gate.open();
  const std::lock_guard lock(books.mutex);
  books.in_use = false;
}

run::vulkan::Loader FailingVulkan::loader() const {
  if (books.find == nullptr) return run::vulkan::system_loader();
  return {&find_instance, {}};
}

std::vector<std::string> FailingVulkan::all() { return {std::begin(kNames), std::end(kNames)}; }

std::vector<std::string> FailingVulkan::fallible() {
  std::vector<std::string> names;
  for (int i = 0; i < kFunctionCount; ++i) {
    if (kFallible[i]) names.emplace_back(kNames[i]);
  }
  return names;
}

void FailingVulkan::fail(std::string_view function, int nth, VkResult result) {
  const std::lock_guard lock(books.mutex);
  books.failing = index_of(function);
  books.calls_until_failure = nth;
  books.failure = result;
  books.failed = false;
}

void FailingVulkan::work() {
  const std::lock_guard lock(books.mutex);
  books.failing = -1;
}

bool FailingVulkan::failed() const {
  const std::lock_guard lock(books.mutex);
  return books.failed;
}

void FailingVulkan::hold_submissions(bool on) {
  const std::lock_guard lock(books.mutex);
  books.holding = on;
}

void FailingVulkan::release_submissions() {
  const std::lock_guard lock(books.mutex);
  books.held.clear();
}

void FailingVulkan::only_waiting_tells(bool on) {
  const std::lock_guard lock(books.mutex);
  books.only_waiting_tells = on;
}

void FailingVulkan::keep_pipelines(bool on) {
  const std::lock_guard lock(books.mutex);
  books.keeps_pipelines = on;
  books.given.clear();
}

std::vector<std::string> FailingVulkan::given_to_pipeline_caches() const {
  const std::lock_guard lock(books.mutex);
  return books.given;
}

void FailingVulkan::around_each_call(void (*inside)(bool)) {
  const std::lock_guard lock(books.mutex);
  books.inside = inside;
}

void FailingVulkan::hold_calls(std::string_view function) { gate.close(index_of(function)); }

void FailingVulkan::release_calls() { gate.open(); }

void FailingVulkan::wait_for_held_call() const {
  std::unique_lock lock(gate.mutex);
  gate.changed.wait(lock, [] { return gate.waiting > 0; });
}

int FailingVulkan::held_calls() const {
  const std::lock_guard lock(gate.mutex);
  return gate.waiting;
}

void FailingVulkan::tell_statistics() {
  // Every driver has this extension, and the backend does not ask for it.
  change("vkEnumerateDeviceExtensionProperties", [](void* out) {
    auto& extension = *static_cast<VkExtensionProperties*>(out);
    if (std::string_view(extension.extensionName) != VK_KHR_MAINTENANCE1_EXTENSION_NAME) return;
    std::strcpy(extension.extensionName, VK_KHR_PIPELINE_EXECUTABLE_PROPERTIES_EXTENSION_NAME);
  });
  change("vkGetPhysicalDeviceFeatures2", [](void* first) {
    for (auto* it = static_cast<VkBaseOutStructure*>(first); it != nullptr; it = it->pNext) {
      if (it->sType != VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_EXECUTABLE_PROPERTIES_FEATURES_KHR) continue;
      reinterpret_cast<VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR*>(it)->pipelineExecutableInfo = VK_TRUE;
    }
  });
  const std::lock_guard lock(books.mutex);
  books.tells = true;
}

void FailingVulkan::hide(std::string function) {
  const std::lock_guard lock(books.mutex);
  books.hidden.insert(std::move(function));
}

void FailingVulkan::show_all() {
  const std::lock_guard lock(books.mutex);
  books.hidden.clear();
}

void FailingVulkan::no_devices() {
  const std::lock_guard lock(books.mutex);
  books.no_devices = true;
}

void FailingVulkan::change(std::string function, std::function<void(void*)> with) {
  const std::lock_guard lock(books.mutex);
  books.changes[std::move(function)] = std::move(with);
}

int FailingVulkan::calls(std::string_view function) const {
  const std::lock_guard lock(books.mutex);
  return books.calls[index_of(function)];
}

void FailingVulkan::forget_calls() {
  const std::lock_guard lock(books.mutex);
  books.calls = {};
}

void FailingVulkan::wait_until_all_is_destroyed() const {
  std::unique_lock lock(books.mutex);
  books.counted.wait(lock, [] { return std::ranges::all_of(books.alive, [](const auto& kind) { return kind.second == 0; }); });
}

std::vector<std::string> FailingVulkan::leaks() const {
  const std::lock_guard lock(books.mutex);
  std::vector<std::string> lines;
  for (const auto& [kind, count] : books.alive) {
    if (count != 0) lines.push_back(kind + ": " + std::to_string(count));
  }
  return lines;
}

}  // namespace vyre::test

#endif
