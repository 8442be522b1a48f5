// What a call records, and what it orders after what. Software drivers do one thing after another whatever they are told, so bytes
// alone would not tell that a barrier is missing.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <string>
#include <vector>

#include "run/vulkan_fixture.hpp"
#include "run/vulkan_shaders.hpp"
#include "vyre/run/vulkan/loader.hpp"

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
  recorder.barrier(buffer, from, to, flags, count, memory, buffers, of_buffers, images, of_images);
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
    const auto executable = backend.prepare_shader(xor_shader(), device);
    Words a = counted(130, 3), b = counted(130, 5), out(130);
    const BufferView views[] = {view(a), view(b), view(out)};
    recorder.commands.clear();
    executable->run(views, {3, 1, 1}, {});
    EXPECT_EQ(out, xor_of(a, b));
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
                                            "order transfer -> host, w -> r",
                                        }));
}

TEST_F(VulkanOrderTest, a_call_in_shared_memory_orders_parts_of_its_grid) {
  const std::vector<std::string> commands = recorded(usable_[0], false);
  if (std::ranges::count(commands, "copy 520") > 0) GTEST_SKIP() << "the device has no memory that the host reads as fast";
  EXPECT_EQ(commands, (std::vector<std::string>{
                          "dispatch 2 1 1",
                          "order shader -> shader, w -> rw",
                          "dispatch 1 1 1",
                          "order shader -> host, w -> r",
                      }));
}

}  // namespace
}  // namespace vyre::test
