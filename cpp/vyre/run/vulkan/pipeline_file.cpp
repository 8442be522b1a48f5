#include "vyre/run/vulkan/pipeline_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string_view>

namespace vyre::run::vulkan {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMagic = "vyre pipeline 1\n";
// A pipeline is some kilobytes. A larger file is not ours.
constexpr std::uintmax_t kMaxFileBytes = 256u << 20;
// Beyond this many files, those written longest ago go; a process looks at its first write and then once in a while.
constexpr std::size_t kMaxFiles = 1000;
constexpr unsigned kWritesBetweenLooks = 50;

// FNV-1a, continued from `hash`.
std::uint64_t hash_bytes(const void* data, std::size_t count, std::uint64_t hash) {
  const auto* bytes = static_cast<const unsigned char*>(data);
  for (std::size_t i = 0; i < count; ++i) hash = (hash ^ bytes[i]) * 0x100000001B3u;
  return hash;
}

std::uint64_t hash_shader(const Shader& shader, std::uint64_t hash) {
  hash = hash_bytes(shader.words.data(), shader.words.size() * sizeof(std::uint32_t), hash);
  const std::uint32_t interface[] = {shader.buffer_count, shader.has_status ? 1u : 0u};
  return hash_bytes(interface, sizeof(interface), hash);
}

template <class T>
void append(std::string& text, const T& value) {
  text.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

// magic, key, its length before it, length and checksum of the data, the data
std::string header(const std::string& key, const std::vector<std::byte>& data) {
  std::string text(kMagic);
  append(text, static_cast<std::uint64_t>(key.size()));
  text += key;
  append(text, static_cast<std::uint64_t>(data.size()));
  append(text, hash_bytes(data.data(), data.size(), 0xCBF29CE484222325u));
  return text;
}

void remove_oldest(const fs::path& directory) {
  std::vector<std::pair<fs::file_time_type, fs::path>> files;
  std::error_code ignored;
  for (fs::directory_iterator entry(directory, ignored), end; !ignored && entry != end; entry.increment(ignored)) {
    files.emplace_back(entry->last_write_time(ignored), entry->path());
  }
  if (files.size() <= kMaxFiles) return;
  std::sort(files.begin(), files.end());
  // A tenth more than needed, so that this does not happen at every write.
  files.resize(files.size() - kMaxFiles + kMaxFiles / 10);
  for (const auto& [time, path] : files) fs::remove(path, ignored);
}

}  // namespace

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

PipelineFile::PipelineFile(const Options& options, const std::string& device_key, const Shader& shader) {
  const auto directory = options.cache_directory ? options.cache_directory : default_cache_directory();
  // Two differently seeded hashes: 128 bits, for a name that no two shaders share by chance.
  key_ = fmt::format("{}-{:016x}{:016x}", device_key, hash_shader(shader, 0xCBF29CE484222325u), hash_shader(shader, 0x9E3779B97F4A7C15u));
  if (directory) path_ = *directory / "pipelines" / key_;
}

std::vector<std::byte> PipelineFile::read() const {
  if (!path_) return {};
  std::error_code error;
  const std::uintmax_t size = fs::file_size(*path_, error);
  if (error || size > kMaxFileBytes) return {};
  std::ifstream file(*path_, std::ios::binary);
  std::string text(static_cast<std::size_t>(size), '\0');
  if (!file.read(text.data(), static_cast<std::streamsize>(text.size()))) return {};

  const std::size_t header_size = header(key_, {}).size();
  if (text.size() < header_size) return {};
  const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
  const std::vector<std::byte> data(bytes + header_size, bytes + text.size());
  if (text.compare(0, header_size, header(key_, data)) != 0) return {};
  return data;
}

void PipelineFile::write(const std::vector<std::byte>& data) const {
  if (!path_) return;
  const fs::path directory = path_->parent_path();
  std::error_code error;
  const bool made = fs::create_directories(directory, error);
  if (error) return;
  // The XDG base directory specification asks for this.
  if (made) fs::permissions(directory, fs::perms::owner_all, error);

  // Written aside and renamed, so that no reader, in any process, sees half a file.
  static std::atomic<unsigned> serial = 0;
  const unsigned number = serial++;
  const fs::path aside = directory / fmt::format("{}.{}.{}.part", key_.substr(key_.size() - 32), getpid(), number);
  {
    std::ofstream file(aside, std::ios::binary | std::ios::trunc);
    file << header(key_, data);
    file.write(reinterpret_cast<const char*>(data.data()), static_cast<std::streamsize>(data.size()));
    file.close();
    if (!file) {
      fs::remove(aside, error);
      return;
    }
  }
  fs::rename(aside, *path_, error);
  if (error) {
    fs::remove(aside, error);
    return;
  }
  if (number % kWritesBetweenLooks == 0) remove_oldest(directory);
}

}  // namespace vyre::run::vulkan
