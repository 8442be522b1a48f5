// What a test or a tool may set about the Vulkan backend; everybody else takes the defaults.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>

namespace vyre::run::vulkan {

struct Options {
  // At most this many workgroups a dispatch, where the device allows more.
  std::optional<std::array<std::uint32_t, 3>> max_group_count = std::nullopt;
  // At most this many bytes of an array are bound, where the device allows more: a larger one is reached by its address.
  std::optional<std::uint64_t> max_storage_range = std::nullopt;
  // At most this many dispatches a submission: what a split grid records at once.
  std::size_t dispatches_per_submission = 1024;
  // Copies through staging memory even where the host can reach device memory.
  bool always_stage = false;
  // Whether submissions to a device that works are left to a thread of their own (stream.hpp), otherwise than its kind says.
  std::optional<bool> submission_thread = std::nullopt;
  // Where compiled pipelines are kept instead of the user's cache directory.
  std::optional<std::filesystem::path> cache_directory = std::nullopt;
};

}  // namespace vyre::run::vulkan
