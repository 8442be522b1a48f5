#include "vyre/run/gpu/kept_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>

#include "vyre/base/hash.hpp"
#include "vyre/run/gpu/cache_folder.hpp"

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

namespace {

namespace fs = std::filesystem;

// Compiled code takes some kilobytes. A larger file was not written by this code.
constexpr std::uint64_t kMaxFileBytes = 256u << 20;
// A process cleans the folder at its first write, and then after this many writes each time.
constexpr unsigned kWritesBetweenCleanups = 50;

template <class T>
void append(std::string& text, const T& value) {
  text.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

// A file is: magic, length of the key, key, length of the data, checksum of the data, data. Returns the part up to the key.
std::string start_of_header(const std::string& key) {
  std::string text(CacheFolder::kMagic);
  append(text, static_cast<std::uint64_t>(key.size()));
  return text + key;
}

struct Sum {
  std::uint64_t bytes;
  std::uint64_t hash;

  bool operator==(const Sum&) const = default;
};

Sum sum_of(const std::vector<std::byte>& data) {
  Fnv1a hash;
  hash.add_bytes(data.data(), data.size());
  return {data.size(), hash.value()};
}

bool read_all(int file, void* to, std::size_t count) {
  auto* bytes = static_cast<char*>(to);
  while (count > 0) {
    const ssize_t got = ::read(file, bytes, count);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    bytes += got;
    count -= static_cast<std::size_t>(got);
  }
  return true;
}

}  // namespace

KeptFile::Hash KeptFile::hash_of(std::string_view bytes) {
  Fnv1a first, second(0x9E3779B97F4A7C15u);
  first.add_bytes(bytes.data(), bytes.size());
  second.add_bytes(bytes.data(), bytes.size());
  return {first.value(), second.value()};
}

KeptFile::KeptFile(const std::optional<fs::path>& directory, const std::string& device_key, const Hash& hash)
    : key_(fmt::format("{}-{:016x}{:016x}", device_key, hash.first, hash.second)) {
  const auto below = directory ? directory : default_cache_directory();
  if (below) folder_ = pipelines_below(*below);
}

KeptFile KeptFile::recording(const Hash& hash) {
  KeptFile made;
  made.key_ = fmt::format("std-{:016x}{:016x}", hash.first, hash.second);
  if (const auto below = default_cache_directory()) made.folder_ = *below / "recordings";
  return made;
}

std::vector<std::byte> KeptFile::read() const {
  if (!folder_) return {};
  const auto folder = CacheFolder::open(*folder_);
  const auto entry = folder ? folder->entry(key_) : std::nullopt;
  if (!entry || entry->bytes > kMaxFileBytes) return {};
  // The header is read first, and memory for the data is taken only when the file is as long as the header says.
  const std::string wanted = start_of_header(key_);
  std::string start(wanted.size(), '\0');
  Sum sum;
  if (!read_all(*entry->file, start.data(), start.size()) || start != wanted || !read_all(*entry->file, &sum, sizeof(sum))) return {};
  if (sum.bytes > kMaxFileBytes || wanted.size() + sizeof(sum) + sum.bytes != entry->bytes) return {};
  std::vector<std::byte> data(sum.bytes);
  if (!read_all(*entry->file, data.data(), data.size()) || sum_of(data) != sum) return {};
  return data;
}

void KeptFile::write(const std::vector<std::byte>& data) const {
  if (!folder_) return;
  const auto folder = CacheFolder::make(*folder_);
  if (!folder) return;
  std::string contents = start_of_header(key_);
  append(contents, sum_of(data));
  contents.append(reinterpret_cast<const char*>(data.data()), data.size());
  folder->put(key_, contents);

  static std::atomic<unsigned> writes = 0;
  if (writes++ % kWritesBetweenCleanups == 0) folder->clean();
}

}  // namespace vyre::run
