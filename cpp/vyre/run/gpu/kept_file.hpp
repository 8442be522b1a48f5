// Stores the output of a driver's compiler, or what Python recorded, in a file, so that later processes need not make it again.
//
// A file that is missing, cut short, damaged or of another key is ignored, and a file that cannot be written is no error. The checksum
// protects drivers that trust the data they are given.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace vyre::run {

// The directory for files that later processes can reuse: VYRE_CACHE_DIR, else XDG_CACHE_HOME/vyre, else ~/.cache/vyre; none where the
// environment names no directory.
std::optional<std::filesystem::path> default_cache_directory();

// Returns the folder for compiled pipelines in the cache directory.
std::filesystem::path pipelines_below(const std::filesystem::path& cache_directory);

class KeptFile {
 public:
  // Two hashes of the same bytes, with different seeds: 128 bits, so that two programs do not share a name by chance.
  struct Hash {
    std::uint64_t first = 0, second = 0;
  };
  static Hash hash_of(std::string_view bytes);

  // The file of a pipeline lies in `directory`, or in the user's cache directory without one. `device_key` names the driver and the device
  // that the data is for.
  KeptFile(const std::optional<std::filesystem::path>& directory, const std::string& device_key, const Hash& hash);
  // What Python recorded, in a folder of its own: many small files push out no pipelines.
  static KeptFile recording(const Hash& hash);

  // The data that write() stored; empty if there is no usable file.
  std::vector<std::byte> read() const;
  void write(const std::vector<std::byte>& data) const;

 private:
  KeptFile() = default;

  std::string key_;
  std::optional<std::filesystem::path> folder_;
};

}  // namespace vyre::run
