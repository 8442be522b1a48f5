#include "vyre/run/vulkan/driver_files.hpp"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>
#include <string_view>

namespace vyre::run::vulkan {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFix = "Fix: install that driver again, or name others in VK_DRIVER_FILES.";
// A manifest has some hundred bytes.
constexpr std::size_t kMostManifestBytes = std::size_t{1} << 20;

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

void add_listed(std::vector<fs::path>& to, std::string_view list) {
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(':'), list.size());
    if (end > 0) to.emplace_back(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
}

void add_folder(std::vector<fs::path>& to, const fs::path& folder) {
  std::error_code none;
  std::vector<fs::path> found;
  for (fs::directory_iterator entry(folder, none), end; !none && entry != end; entry.increment(none)) {
    if (entry->path().extension() == ".json") found.push_back(entry->path());
  }
  std::ranges::sort(found);
  to.insert(to.end(), found.begin(), found.end());
}

std::optional<std::string> contents(const fs::path& path, std::size_t most) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::string bytes(most, '\0');
  file.read(bytes.data(), static_cast<std::streamsize>(most));
  bytes.resize(static_cast<std::size_t>(file.gcount()));
  return bytes;
}

// The text behind `"library_path":`, and whether the manifest is whole as far as its last bracket tells.
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

// What is wrong with a library's file, and whether mapping it would end the process.
struct Damage {
  std::string what;
  bool deadly = false;
};

Damage damage_of_library(const fs::path& path) {
  std::error_code none;
  const std::uint64_t bytes = fs::file_size(path, none);
  std::ifstream file(path, std::ios::binary);
  if (none || !file) return {"it cannot be read"};
  const auto header = read_at<Elf64_Ehdr>(file, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return {"it is no shared library"};
  // Of another word size or order: the loader passes it over.
  if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB) return {};
  std::uint64_t needed = header->e_phoff + std::uint64_t{header->e_phnum} * sizeof(Elf64_Phdr);
  for (std::uint64_t index = 0; index < header->e_phnum; ++index) {
    file.clear();
    const auto segment = read_at<Elf64_Phdr>(file, header->e_phoff + index * sizeof(Elf64_Phdr));
    if (!segment) break;
    if (segment->p_type == PT_LOAD) needed = std::max<std::uint64_t>(needed, segment->p_offset + segment->p_filesz);
  }
  if (bytes >= needed) return {};
  return {fmt::format("its file ends after {} of at least {} bytes", bytes, needed), true};
}

Damage damage(const fs::path& manifest) {
  std::error_code none;
  // One that is missing is how drivers are hidden on purpose.
  if (!fs::is_regular_file(manifest, none)) return {};
  const auto text = contents(manifest, kMostManifestBytes);
  const auto library = text ? library_of(*text) : std::nullopt;
  if (!library) return {fmt::format("driver file `{}` is damaged: it names no library. {}", manifest.string(), kFix)};
  // A bare name is found where the dynamic linker looks.
  if (library->find('/') == std::string::npos) return {};
  const fs::path path = manifest.parent_path() / *library;
  Damage found = damage_of_library(path);
  if (found.what.empty()) return {};
  return {fmt::format("Vulkan driver `{}`, which `{}` names, is damaged: {}. {}", path.lexically_normal().string(), manifest.string(),
                      found.what, kFix),
          found.deadly};
}

}  // namespace

std::vector<fs::path> driver_manifests() {
  std::vector<fs::path> found;
  for (const char* name : {"VK_DRIVER_FILES", "VK_ICD_FILENAMES"}) {
    if (variable(name).empty()) continue;
    add_listed(found, variable(name));
    return found;
  }
  add_listed(found, variable("VK_ADD_DRIVER_FILES"));
  for (const char* folder : {"/etc/vulkan/icd.d", "/usr/local/share/vulkan/icd.d", "/usr/share/vulkan/icd.d"}) add_folder(found, folder);
  if (!variable("HOME").empty()) add_folder(found, fs::path(variable("HOME")) / ".local/share/vulkan/icd.d");
  return found;
}

std::string damage_of(const fs::path& manifest) { return damage(manifest).what; }

std::string deadly_damage_of(const fs::path& manifest) {
  const Damage found = damage(manifest);
  return found.deadly ? found.what : std::string();
}

std::string damaged_driver() {
  for (const fs::path& manifest : driver_manifests()) {
    if (std::string said = damage_of(manifest); !said.empty()) return said;
  }
  return {};
}

std::string deadly_driver() {
  for (const fs::path& manifest : driver_manifests()) {
    if (std::string said = deadly_damage_of(manifest); !said.empty()) return said;
  }
  return {};
}

}  // namespace vyre::run::vulkan
