// Finds the directory for files that later processes can reuse. Environment variables select it.
#pragma once

#include <filesystem>
#include <optional>

namespace vyre::run {

// VYRE_CACHE_DIR, else XDG_CACHE_HOME/vyre, else ~/.cache/vyre; none where the environment names no directory.
std::optional<std::filesystem::path> default_cache_directory();

// Returns the folder for compiled pipelines in the cache directory.
std::filesystem::path pipelines_below(const std::filesystem::path& cache_directory);

}  // namespace vyre::run
