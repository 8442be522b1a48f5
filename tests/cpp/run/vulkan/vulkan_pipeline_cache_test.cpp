// Compiled pipelines from one process to the next, with a driver that keeps them.

#include <gtest/gtest.h>

#include <fstream>

#include "run/vulkan/vulkan_fixture.hpp"
#include "run/vulkan/vulkan_shaders.hpp"
#include "support/directory.hpp"
#include "support/fakes/failing_vulkan.hpp"

namespace vyre::test {
namespace {

namespace fs = std::filesystem;

class PipelineCacheTest : public VulkanTest {
 protected:
  // What a process does that compiles one shader; gives what its driver was given to start from.
  std::string compile(std::size_t device) {
    vulkan_.keep_pipelines(true);
    VulkanBackend backend([this] { return vulkan_.loader(); }, {.cache_directory = directory_.path});
    Words a = counted(64, 3), b = counted(64, 5), out(64);
    const BufferView views[] = {view(a), view(b), view(out)};
    backend.prepare_shader(xor_shader(), device)->run(views, {1, 1, 1}, {});
    EXPECT_EQ(out, xor_of(a, b));
    const auto given = vulkan_.given_to_pipeline_caches();
    EXPECT_FALSE(given.empty());
    return given.empty() ? "" : given.back();
  }

  std::vector<std::string> contents() const {
    std::vector<std::string> all;
    for (const fs::path& path : files_below(directory_.path)) {
      std::string text(fs::file_size(path), '\0');
      std::ifstream(path, std::ios::binary).read(text.data(), static_cast<std::streamsize>(text.size()));
      all.push_back(text);
    }
    std::sort(all.begin(), all.end());
    return all;
  }

  FailingVulkan vulkan_;
  const Directory directory_;
};

TEST_F(PipelineCacheTest, the_next_process_starts_from_what_the_driver_kept) {
  on_each_device([&](std::size_t device, const DeviceInfo&) {
    EXPECT_EQ(compile(device), "");
    const auto before = contents();
    ASSERT_FALSE(before.empty());
    const std::string given = compile(device);
    EXPECT_EQ(given.find("hhhh"), 0u);
    EXPECT_NE(given.find("pipeline "), std::string::npos);
    EXPECT_EQ(contents(), before) << "what is there already is not written again";
    fs::remove_all(directory_.path / "pipelines");
  });
}

TEST_F(PipelineCacheTest, a_driver_is_given_no_damaged_data) {
  on_each_device([&](std::size_t device, const DeviceInfo&) {
    compile(device);
    // The probes of a device are pipelines too. The file whose damage the driver could notice is the shader's.
    const std::string given = compile(device);
    fs::path path;
    for (const fs::path& file : files_below(directory_.path)) {
      std::string text(fs::file_size(file), '\0');
      std::ifstream(file, std::ios::binary).read(text.data(), static_cast<std::streamsize>(text.size()));
      if (text.find(given) != std::string::npos) path = file;
    }
    ASSERT_FALSE(path.empty());
    std::string good(fs::file_size(path), '\0');
    std::ifstream(path, std::ios::binary).read(good.data(), static_cast<std::streamsize>(good.size()));
    for (const std::size_t at : {std::size_t{20}, good.size() / 2, good.size() - 1}) {
      std::string damaged = good;
      damaged[at] ^= 1;
      std::ofstream(path, std::ios::binary | std::ios::trunc) << damaged;
      EXPECT_EQ(compile(device), "") << "byte " << at;
      EXPECT_NE(compile(device), "") << "a good entry is in its place";
      std::ofstream(path, std::ios::binary | std::ios::trunc) << good.substr(0, at);
      EXPECT_EQ(compile(device), "") << at << " bytes";
      EXPECT_NE(compile(device), "") << "a good entry is in its place";
    }
    fs::remove_all(directory_.path / "pipelines");
  });
}

}  // namespace
}  // namespace vyre::test
