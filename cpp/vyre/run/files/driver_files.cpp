#include "vyre/run/files/driver_files.hpp"

#include <elf.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <string_view>

namespace vyre::run {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFix = "Fix: install that driver again, or name others in VK_DRIVER_FILES.";
// A real manifest has a few hundred bytes and two levels of brackets; one beyond these limits is taken to be damaged.
constexpr std::size_t kMostManifestBytes = std::size_t{1} << 20;
constexpr std::size_t kMostDepth = 64;

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

std::vector<fs::path> listed(std::string_view list) {
  std::vector<fs::path> paths;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(':'), list.size());
    if (end > 0) paths.emplace_back(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return paths;
}

void add_folder(std::vector<fs::path>& to, const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> found;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    if (entry->path().extension() == ".json") found.push_back(entry->path());
  }
  std::ranges::sort(found);
  to.insert(to.end(), found.begin(), found.end());
}

// The first `most` bytes of a regular file; nothing for any other file.
std::optional<std::string> contents(const fs::path& path, std::size_t most) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return std::nullopt;
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::string bytes(std::min<std::uintmax_t>(most, fs::file_size(path, error)), '\0');
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<std::size_t>(file.gcount()));
  return bytes;
}

// The deepest nesting of brackets outside of strings.
std::size_t depth_of(std::string_view json) {
  std::size_t depth = 0, deepest = 0;
  bool in_string = false;
  for (std::size_t at = 0; at < json.size(); ++at) {
    const char letter = json[at];
    if (in_string) {
      if (letter == '\\') ++at;
      if (letter == '"') in_string = false;
    } else if (letter == '"') {
      in_string = true;
    } else if (letter == '[' || letter == '{') {
      deepest = std::max(deepest, ++depth);
    } else if ((letter == ']' || letter == '}') && depth > 0) {
      --depth;
    }
  }
  return deepest;
}

// The value of `"library_path"`. Nothing if there is none, or if the manifest does not end with a brace, because then it was truncated.
std::optional<std::string> library_of(std::string_view manifest) {
  constexpr std::string_view kBlank = " \t\r\n", kKey = "\"library_path\"";
  const std::size_t last = manifest.find_last_not_of(kBlank);
  if (last == std::string_view::npos || manifest[last] != '}') return std::nullopt;
  std::size_t at = manifest.find(kKey);
  if (at == std::string_view::npos) return std::nullopt;
  at = manifest.find_first_not_of(kBlank, at + kKey.size());
  if (at == std::string_view::npos || manifest[at] != ':') return std::nullopt;
  at = manifest.find_first_not_of(kBlank, at + 1);
  if (at == std::string_view::npos || manifest[at] != '"') return std::nullopt;
  std::string path;
  for (++at; at < manifest.size() && manifest[at] != '"'; ++at) {
    if (manifest[at] == '\\') ++at;
    if (at < manifest.size()) path += manifest[at];
  }
  if (at >= manifest.size()) return std::nullopt;
  return path;
}

template <class T>
std::optional<T> read_at(std::ifstream& file, std::uint64_t offset) {
  T value;
  file.seekg(static_cast<std::streamoff>(offset));
  if (!file.read(reinterpret_cast<char*>(&value), sizeof(value))) return std::nullopt;
  return value;
}

// Says what is wrong with a library's file, and whether mapping it would end the process.
struct Damage {
  std::string what;
  bool deadly = false;
};

// Adds without wrapping around. A damaged header may hold any offset; a sum that does not fit 64 bits becomes the largest one, which
// exceeds the size of every file.
std::uint64_t capped_sum(std::uint64_t a, std::uint64_t b) {
  constexpr auto kMost = std::numeric_limits<std::uint64_t>::max();
  return a > kMost - b ? kMost : a + b;
}

Damage ends_early(std::uint64_t bytes, std::uint64_t needed) {
  return {fmt::format("its file ends after {} of at least {} bytes", bytes, needed), true};
}

Damage damage_of_library(const fs::path& path) {
  std::error_code error;
  const std::uint64_t bytes = fs::file_size(path, error);
  std::ifstream file(path, std::ios::binary);
  if (error || !file) return {"it cannot be read"};
  const auto header = read_at<Elf64_Ehdr>(file, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return {"it is no shared library"};
  // The loader skips libraries of another word size or byte order.
  if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB) return {};
  std::uint64_t needed = capped_sum(header->e_phoff, std::uint64_t{header->e_phnum} * sizeof(Elf64_Phdr));
  if (bytes < needed) return ends_early(bytes, needed);
  for (std::uint64_t index = 0; index < header->e_phnum; ++index) {
    file.clear();
    const auto segment = read_at<Elf64_Phdr>(file, header->e_phoff + index * sizeof(Elf64_Phdr));
    if (!segment) break;
    if (segment->p_type == PT_LOAD) needed = std::max(needed, capped_sum(segment->p_offset, segment->p_filesz));
  }
  if (bytes >= needed) return {};
  return ends_early(bytes, needed);
}

Damage damage(const fs::path& manifest) {
  struct stat about;
  // A missing manifest is not damage, and neither is /dev/null: naming either of them is a common way to hide all drivers.
  if (stat(manifest.c_str(), &about) != 0) return {};
  const auto damaged = [&](std::string_view what, bool deadly) -> Damage {
    return {fmt::format("driver file `{}` is damaged: {}. {}", manifest.string(), what, kFix), deadly};
  };
  // The loader would wait for a writer, or read a device such as /dev/zero without end.
  const bool endless = S_ISCHR(about.st_mode) && about.st_rdev != makedev(1, 3);
  if (S_ISFIFO(about.st_mode) || endless) return damaged("it is no regular file", true);
  if (!S_ISREG(about.st_mode)) return {};
  // The loader reads the whole file into memory.
  if (about.st_size > static_cast<off_t>(kMostManifestBytes)) {
    return damaged(fmt::format("it has {} bytes, and {} are the most", about.st_size, kMostManifestBytes), true);
  }
  const auto text = contents(manifest, kMostManifestBytes);
  // The loader's parser recurses, so deep nesting overflows its stack.
  if (text && depth_of(*text) > kMostDepth) {
    return damaged(fmt::format("its brackets are nested more than {} deep", kMostDepth), true);
  }
  const auto library = text ? library_of(*text) : std::nullopt;
  if (!library) return damaged("it names no library", false);
  // The dynamic linker searches its own paths for a bare name, so which file it finds is not known here.
  if (library->find('/') == std::string::npos) return {};
  const fs::path path = manifest.parent_path() / *library;
  Damage found = damage_of_library(path);
  if (found.what.empty()) return {};
  return {fmt::format("Vulkan driver `{}`, which `{}` names, is damaged: {}. {}", path.lexically_normal().string(), manifest.string(),
                      found.what, kFix),
          found.deadly};
}

}  // namespace

DriverPlaces driver_places() {
  DriverPlaces found;
  const auto add = [&](const fs::path& place) {
    if (std::ranges::find(found.places, place) == found.places.end()) found.places.push_back(place);
  };
  for (const char* name : {"VK_DRIVER_FILES", "VK_ICD_FILENAMES"}) {
    if (variable(name).empty()) continue;
    for (const fs::path& place : listed(variable(name))) add(place);
    found.only = name;
    return found;
  }
  for (const fs::path& place : listed(variable("VK_ADD_DRIVER_FILES"))) add(place);
  found.added = !found.places.empty();
  const std::string home(variable("HOME"));
  const auto add_roots = [&](const char* name, const std::string& otherwise) {
    for (const fs::path& root : listed(variable(name).empty() ? otherwise : variable(name))) add(root / "vulkan" / "icd.d");
  };
  add_roots("XDG_CONFIG_HOME", home.empty() ? "" : home + "/.config");
  add_roots("XDG_CONFIG_DIRS", "/etc/xdg");
  add("/etc/vulkan/icd.d");
  add_roots("XDG_DATA_HOME", home.empty() ? "" : home + "/.local/share");
  add_roots("XDG_DATA_DIRS", "/usr/local/share:/usr/share");
  return found;
}

std::vector<fs::path> driver_manifests() {
  std::vector<fs::path> found;
  for (const fs::path& place : driver_places().places) {
    std::error_code error;
    if (fs::is_directory(place, error)) {
      add_folder(found, place);
    } else {
      found.push_back(place);
    }
  }
  return found;
}

std::optional<std::string> driver_library(const fs::path& manifest) {
  const auto text = contents(manifest, kMostManifestBytes);
  return text && depth_of(*text) <= kMostDepth ? library_of(*text) : std::nullopt;
}

std::string damage_of(const fs::path& manifest) { return damage(manifest).what; }

std::string damaged_driver() {
  for (const fs::path& manifest : driver_manifests()) {
    if (std::string said = damage_of(manifest); !said.empty()) return said;
  }
  return {};
}

std::string deadly_driver() {
  for (const fs::path& manifest : driver_manifests()) {
    if (Damage found = damage(manifest); found.deadly) return found.what;
  }
  return {};
}

}  // namespace vyre::run
