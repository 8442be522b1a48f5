// Manages a folder of small files that several processes read and write at the same time. Only files that are ours are touched.
//
// A file is ours when it is a regular file of this user, its name has the form of an entry's or a draft's, and its contents begin with our
// whole magic; all other files, links, pipes and folders are never read, replaced or removed. An entry appears
// complete or not at all: it is written into a file without a name, which the system frees when the process is killed, and gets its name
// when it is complete.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "vyre/base/descriptor.hpp"

namespace vyre::run {

class CacheFolder {
 public:
  // Every entry begins with these 16 bytes.
  static constexpr std::string_view kMagic = "vyre pipeline 1\n";
  // Beyond this many entries, clean() removes those written longest ago.
  static constexpr std::size_t kMaxEntries = 1000;

  // How an entry is written before it gets its name: into a file without a name where the file system offers that (O_TMPFILE), otherwise
  // into one with a random name.
  enum class Draft { kUnnamedIfPossible, kNamed };

  static std::optional<CacheFolder> open(const std::filesystem::path& path);
  // Makes the folder if it is missing, readable by its owner only.
  static std::optional<CacheFolder> make(const std::filesystem::path& path);

  struct Entry {
    Descriptor file;
    std::uint64_t bytes;
  };
  // The entry, open at its first byte. Nothing if it is missing or not our file.
  std::optional<Entry> entry(const std::string& name) const;

  // Writes an entry, which must begin with kMagic. A file of that name is replaced if it is ours, and stays if it is not.
  // If the entry cannot be written, nothing happens.
  void put(const std::string& name, std::string_view contents, Draft draft = Draft::kUnnamedIfPossible) const;

  // Removes the oldest entries beyond kMaxEntries, and named drafts of processes that have ended.
  void clean() const;

 private:
  explicit CacheFolder(Descriptor folder) : folder_(std::move(folder)) {}
  bool put_unnamed(const std::string& name, std::string_view contents) const;
  void put_named(const std::string& name, std::string_view contents) const;
  bool may_replace(const std::string& name) const;

  Descriptor folder_;
};

}  // namespace vyre::run
