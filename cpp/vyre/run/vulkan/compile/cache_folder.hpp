// A folder of small files that several processes read and write at once, and in which only files of our own are touched.
//
// A file is ours when it is a regular file of this user, its name has the form of an entry's or a draft's, and its contents begin with our
// whole magic; all other files, links, pipes and folders that lie beside it are never read, replaced or removed. An entry appears whole,
// under its name, or not at all: it is written into a file without a name, which the system frees when the process is killed, and gets its
// name when it is complete.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace vyre::run::vulkan {

// Owns a file descriptor; -1 is none.
class Descriptor {
 public:
  explicit Descriptor(int value = -1) : value_(value) {}
  Descriptor(Descriptor&& other) noexcept;
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor();

  int operator*() const { return value_; }
  explicit operator bool() const { return value_ >= 0; }

 private:
  int value_;
};

class CacheFolder {
 public:
  // The first 16 bytes of every entry.
  static constexpr std::string_view kMagic = "vyre pipeline 1\n";
  // Beyond this many entries, those written longest ago go.
  static constexpr std::size_t kMaxEntries = 1000;

  // The file that is written before it gets its name: without a name of its own where the file system offers that (O_TMPFILE), else with
  // one that cannot be foreseen.
  enum class Draft { kUnnamedIfPossible, kNamed };

  static std::optional<CacheFolder> open(const std::filesystem::path& path);
  // Makes the folder, for its owner alone, where it is missing.
  static std::optional<CacheFolder> make(const std::filesystem::path& path);

  struct Entry {
    Descriptor file;
    std::uint64_t bytes;
  };
  // The entry, open at its first byte. Nothing where it is missing or is no file of ours.
  std::optional<Entry> entry(const std::string& name) const;

  // Writes an entry, which must begin with kMagic. What lies under the name is replaced if it is ours, and stays if it is not.
  // An entry that cannot be written is left out.
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

}  // namespace vyre::run::vulkan
