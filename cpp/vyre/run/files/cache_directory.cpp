#include "vyre/run/files/cache_directory.hpp"

#include <cstdlib>

namespace vyre::run {

namespace fs = std::filesystem;

std::optional<fs::path> default_cache_directory() {
  const auto from = [](const char* name) -> std::optional<fs::path> {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') return std::nullopt;
    return fs::path(value);
  };
  if (auto directory = from("VYRE_CACHE_DIR")) return directory;
  if (auto directory = from("XDG_CACHE_HOME"); directory && directory->is_absolute()) return *directory / "vyre";
  if (auto directory = from("HOME")) return *directory / ".cache" / "vyre";
  return std::nullopt;
}

fs::path pipelines_below(const fs::path& cache_directory) { return cache_directory / "pipelines"; }

}  // namespace vyre::run
