// Memory that runs out in the Vulkan backend: as elsewhere, and no object of Vulkan is left behind. Drivers are spared: some end the
// process when their compiler finds no memory, which is not ours to mend.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "run/vulkan/vulkan_fixture.hpp"
#include "run/vulkan/vulkan_shaders.hpp"
#include "support/fakes/failing_memory.hpp"
#include "support/fakes/failing_vulkan.hpp"
#include "support/programs/sample_programs.hpp"
#include "support/run_program.hpp"

namespace vyre::test {
namespace {

class VulkanMemory : public VulkanTest {
 protected:
  VulkanMemory() { vulkan_.around_each_call(&FailingMemory::pause); }

  VulkanBackend backend(run::vulkan::Options options = {}) const {
    return VulkanBackend([this] { return vulkan_.loader(); }, std::move(options));
  }

  static std::uint64_t xor_on(run::Executable& executable) {
    Words a = counted(100, 3), b = counted(100, 5), out(100, 9);
    const BufferView views[] = {view(a), view(b), view(out)};
    try {
      executable.run(views, {2, 1, 1}, {});
    } catch (...) {
      EXPECT_TRUE(a == counted(100, 3) && b == counted(100, 5) && out == Words(100, 9)) << "a call that failed has changed an array";
      throw;
    }
    return out == xor_of(a, b) ? 1 : 0;
  }

  FailingVulkan vulkan_;
};

TEST_F(VulkanMemory, that_fails_in_a_call_is_reported) {
  on_each_device([&](std::size_t device, const DeviceInfo&) {
    auto backend = this->backend();
    const auto executable = backend.prepare_shader(xor_shader(), device);
    fails_cleanly_at_each_allocation([&] { return xor_on(*executable); });
  });
  EXPECT_EQ(vulkan_.leaks(), std::vector<std::string>());
}

TEST_F(VulkanMemory, that_fails_while_a_program_is_prepared_is_reported) {
  const validate::ValidProgram program = valid(xor_program());
  const auto directory = std::filesystem::temp_directory_path() / ("vyre-memory-" + std::to_string(getpid()));
  run::vulkan::Options options;
  options.cache_directory = directory;
  const std::size_t device = usable_[0];
  fails_cleanly_at_each_allocation(
      [&] {
        std::filesystem::remove_all(directory);
        std::uint64_t result = 0;
        {
          auto backend = this->backend(options);
          result = xor_on(*backend.prepare(program, device));
        }
        if (!vulkan_.leaks().empty()) throw std::runtime_error(vulkan_.leaks().front() + " left");
        return result;
      },
      11);
  std::filesystem::remove_all(directory);
  EXPECT_EQ(vulkan_.leaks(), std::vector<std::string>());
}

}  // namespace
}  // namespace vyre::test
