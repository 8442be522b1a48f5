// Has the settings of the Vulkan backend that tests and tools may change. Users always get the defaults.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>

namespace vyre::run::vulkan {

struct Options {
  // Lowers the device's limit on the number of workgroups in one dispatch, by axis.
  std::optional<std::array<std::uint32_t, 3>> max_group_count = std::nullopt;
  // Lowers the device's limit on the size of a bound array, in bytes. Shaders reach a larger array by its address.
  std::optional<std::uint64_t> max_storage_range = std::nullopt;
  // The most dispatches of one submission.
  std::size_t dispatches_per_submission = 1024;
  // Whether to copy through staging memory even if the host can reach device memory.
  bool always_stage = false;
  // Whether a thread of the stream (stream.hpp) passes submissions to a busy device. The default is yes for GPUs, no for software devices.
  std::optional<bool> submission_thread = std::nullopt;
  // Whether recorded commands stay valid when other arrays are bound to them (Context::updates_after_bind). The default is true where
  // the device has robust access to such arrays too. True uses the feature even without it, false never.
  std::optional<bool> update_after_bind = std::nullopt;
  // The directory for compiled pipelines, in place of the user's cache directory.
  std::optional<std::filesystem::path> cache_directory = std::nullopt;
};

}  // namespace vyre::run::vulkan
