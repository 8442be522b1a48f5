// What a call records, and what it orders after what. Software drivers do one thing after another whatever they are told, so bytes
// alone would not tell that a barrier is missing.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "run/vulkan/vulkan_fixture.hpp"
#include "run/vulkan/vulkan_shaders.hpp"
#include "vyre/run/storage.hpp"
#include "vyre/run/vulkan/api/loader.hpp"

namespace vyre::test {
namespace {

using run::vulkan::Options;

// The commands recorded by all devices that were opened through `loader`.
struct Recorder {
  std::mutex mutex;
  std::vector<std::string> commands;
  PFN_vkGetDeviceProcAddr find = nullptr;
  PFN_vkCmdCopyBuffer copy = nullptr;
  PFN_vkCmdDispatch dispatch = nullptr;
  PFN_vkCmdPipelineBarrier barrier = nullptr;
  PFN_vkQueueSubmit submit = nullptr;
  std::map<VkCommandBuffer, std::string> first_orders;  // of each command buffer

  void add(std::string command) {
    const std::lock_guard lock(mutex);
    commands.push_back(std::move(command));
  }
};
// Vulkan's functions carry no context.
Recorder recorder;

VKAPI_ATTR void VKAPI_CALL copy(VkCommandBuffer buffer, VkBuffer from, VkBuffer to, std::uint32_t count, const VkBufferCopy* regions) {
  recorder.add("copy " + std::to_string(regions[0].size));
  recorder.copy(buffer, from, to, count, regions);
}

VKAPI_ATTR void VKAPI_CALL dispatch(VkCommandBuffer buffer, std::uint32_t x, std::uint32_t y, std::uint32_t z) {
  recorder.add("dispatch " + std::to_string(x) + ' ' + std::to_string(y) + ' ' + std::to_string(z));
  recorder.dispatch(buffer, x, y, z);
}

std::string stage(VkPipelineStageFlags flags) {
  switch (flags) {
    case VK_PIPELINE_STAGE_TRANSFER_BIT:
      return "transfer";
    case VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT:
      return "shader";
    case VK_PIPELINE_STAGE_HOST_BIT:
      return "host";
    case VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT:
      return "done";
    case VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT:
      return "device";
    default:
      return "stage " + std::to_string(flags);
  }
}
std::string access(VkAccessFlags flags) {
  std::string text;
  if ((flags & (VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_HOST_READ_BIT)) != 0) text += 'r';
  if ((flags & (VK_ACCESS_TRANSFER_WRITE_BIT | VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_HOST_WRITE_BIT)) != 0) text += 'w';
  return text;
}

VKAPI_ATTR void VKAPI_CALL barrier(VkCommandBuffer buffer, VkPipelineStageFlags from, VkPipelineStageFlags to, VkDependencyFlags flags,
                                   std::uint32_t count, const VkMemoryBarrier* memory, std::uint32_t buffers,
                                   const VkBufferMemoryBarrier* of_buffers, std::uint32_t images, const VkImageMemoryBarrier* of_images) {
  std::string text = "order " + stage(from) + " -> " + stage(to);
  for (std::uint32_t k = 0; k < count; ++k) text += ", " + access(memory[k].srcAccessMask) + " -> " + access(memory[k].dstAccessMask);
  recorder.add(text);
  {
    const std::lock_guard lock(recorder.mutex);
    recorder.first_orders.emplace(buffer, text);
  }
  recorder.barrier(buffer, from, to, flags, count, memory, buffers, of_buffers, images, of_images);
}

VKAPI_ATTR VkResult VKAPI_CALL submit(VkQueue queue, std::uint32_t count, const VkSubmitInfo* submissions, VkFence fence) {
  for (std::uint32_t k = 0; k < submissions->commandBufferCount; ++k) {
    const auto found = recorder.first_orders.find(submissions->pCommandBuffers[k]);
    recorder.add("submit " + (found == recorder.first_orders.end() ? "without order" : found->second));
  }
  return recorder.submit(queue, count, submissions, fence);
}

template <class Function>
PFN_vkVoidFunction instead_of(Function& real, PFN_vkVoidFunction found, Function stand_in) {
  real = reinterpret_cast<Function>(found);
  return reinterpret_cast<PFN_vkVoidFunction>(stand_in);
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL find_device(VkDevice device, const char* name) {
  const PFN_vkVoidFunction found = recorder.find(device, name);
  if (std::strcmp(name, "vkCmdCopyBuffer") == 0) return instead_of(recorder.copy, found, &copy);
  if (std::strcmp(name, "vkCmdDispatch") == 0) return instead_of(recorder.dispatch, found, &dispatch);
  if (std::strcmp(name, "vkCmdPipelineBarrier") == 0) return instead_of(recorder.barrier, found, &barrier);
  if (std::strcmp(name, "vkQueueSubmit") == 0) return instead_of(recorder.submit, found, &submit);
  return found;
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL find_instance(VkInstance instance, const char* name) {
  const PFN_vkVoidFunction found = run::vulkan::system_loader().find(instance, name);
  if (std::strcmp(name, "vkGetDeviceProcAddr") != 0 || found == nullptr) return found;
  return instead_of(recorder.find, found, &find_device);
}

class VulkanOrderTest : public VulkanTest {
 protected:
  // What one call of out = a ^ b over 130 elements records: three workgroups of 64, at most two a dispatch.
  std::vector<std::string> recorded(std::size_t device, bool stage) {
    VulkanBackend backend(
        [] {
          return run::vulkan::Loader{&find_instance, {}};
        },
        Options{.max_group_count = std::array<std::uint32_t, 3>{2, 1, 1}, .always_stage = stage});
    const auto executable = prepared_xor(backend, device);
    Words a = counted(130, 3), b = counted(130, 5), out(130);
    const BufferView views[] = {view(a), view(b), view(out)};
    recorder.commands.clear();
    executable->run(views, {3, 1, 1}, {});
    EXPECT_EQ(out, xor_of(a, b));
    std::erase_if(recorder.commands, [](const std::string& command) { return command.starts_with("submit"); });
    return recorder.commands;
  }
};

TEST_F(VulkanOrderTest, a_staged_call_orders_copies_and_parts_of_its_grid) {
  EXPECT_EQ(recorded(usable_[0], true), (std::vector<std::string>{
                                            "copy 520",
                                            "copy 520",
                                            "copy 520",
                                            "order transfer -> shader, w -> rw",
                                            "dispatch 2 1 1",
                                            "order shader -> shader, w -> rw",
                                            "dispatch 1 1 1",
                                            "order shader -> transfer, w -> rw",
                                            "copy 520",
                                            "order transfer -> host, w -> rw",
                                        }));
}

TEST_F(VulkanOrderTest, a_call_in_shared_memory_orders_parts_of_its_grid) {
  const std::vector<std::string> commands = recorded(usable_[0], false);
  if (std::ranges::count(commands, "copy 520") > 0) GTEST_SKIP() << "the device has no memory that the host reads as fast";
  EXPECT_EQ(commands, (std::vector<std::string>{
                          "dispatch 2 1 1",
                          "order shader -> shader, w -> rw",
                          "dispatch 1 1 1",
                          "order shader -> host, w -> rw",
                      }));
}

// Found out from what the host has seen, not from asking: so it is the same every time.
TEST_F(VulkanOrderTest, a_resident_call_is_ordered_after_all_before_it_unless_these_are_known_to_be_done) {
  VulkanBackend backend([] { return run::vulkan::Loader{&find_instance, {}}; });
  const auto executable = prepared_xor(backend, usable_[0]);
  const Words a = counted(130, 3), b = counted(130, 5);
  std::vector<std::unique_ptr<run::Storage>> storages;
  std::vector<run::StorageView> views;
  for (int k = 0; k < 3; ++k) {
    storages.push_back(backend.allocate(usable_[0], 520, false));
    views.push_back({storages.back().get(), 0, 520, 130});
  }
  storages[0]->write(0, std::as_bytes(std::span(a)), {});
  storages[1]->write(0, std::as_bytes(std::span(b)), {});
  for (const auto& storage : storages) storage->wait({});
  recorder.commands.clear();
  const auto plan = executable->plan(views, {3, 1, 1});
  const std::string after_all = "order device -> device, w -> rw", after_done = "order done -> device,  -> rw";
  plan->submit(views, {}, {});
  storages[2]->wait({});
  plan->submit(views, {}, {});
  storages[2]->wait({});
  // For a device at work; and once it is called again, for one that is not.
  std::erase(recorder.commands, "order device -> host, w -> rw");
  EXPECT_EQ(recorder.commands, (std::vector<std::string>{after_all, "dispatch 3 1 1", "submit " + after_all, after_done, "dispatch 3 1 1",
                                                         "submit " + after_done}));

  recorder.commands.clear();
  plan->submit(views, {}, {});
  plan->submit(views, {}, {});
  plan->submit(views, {}, {});
  storages[2]->wait({});
  plan->submit(views, {}, {});
  plan->submit(views, {}, {});
  storages[2]->wait({});
  EXPECT_EQ(recorder.commands, (std::vector<std::string>{"submit " + after_done, "submit " + after_all, "submit " + after_all,
                                                         "submit " + after_done, "submit " + after_all}));
  Words out(130);
  storages[2]->read(0, std::as_writable_bytes(std::span(out)), {});
  EXPECT_EQ(out, xor_of(a, b));
}

}  // namespace
}  // namespace vyre::test
