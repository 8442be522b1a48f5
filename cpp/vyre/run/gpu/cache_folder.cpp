#include "vyre/run/gpu/cache_folder.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <vector>

namespace vyre::run {
namespace {

constexpr std::string_view kDraftEnd = ".part";
constexpr std::size_t kDigits = 32;

bool is_hex(std::string_view text) { return text.find_first_not_of("0123456789abcdef") == std::string_view::npos; }

// <device>-<32 hexadecimal digits>
bool has_name_of_entry(std::string_view name) {
  return name.size() > kDigits + 1 && name[name.size() - kDigits - 1] == '-' && is_hex(name.substr(name.size() - kDigits));
}

// <32 hexadecimal digits>.part
bool has_name_of_draft(std::string_view name) {
  return name.size() == kDigits + kDraftEnd.size() && name.substr(kDigits) == kDraftEnd && is_hex(name.substr(0, kDigits));
}

bool write_all(int file, std::string_view contents) {
  while (!contents.empty()) {
    const ssize_t written = ::write(file, contents.data(), contents.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    contents.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

// Opens a regular file of this user, and returns an empty Descriptor for any other file. Never waits for the other end of a pipe, and never
// follows a link out of the folder.
Descriptor open_own(int folder, const std::string& name, struct stat& about) {
  Descriptor file(openat(folder, name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
  if (!file || fstat(*file, &about) != 0 || !S_ISREG(about.st_mode) || about.st_uid != geteuid()) return Descriptor();
  return file;
}

// A file that is shorter than the magic does not match: an empty file would otherwise count as ours.
bool begins_like_ours(int file) {
  char start[CacheFolder::kMagic.size()];
  const ssize_t count = pread(file, start, sizeof(start), 0);
  return count == static_cast<ssize_t>(sizeof(start)) && std::string_view(start, sizeof(start)) == CacheFolder::kMagic;
}

// The process that writes a draft holds a lock on it, and the system releases the lock when the process ends.
bool is_abandoned_draft(int folder, const std::string& name) {
  struct stat about;
  const Descriptor file = open_own(folder, name, about);
  return file && begins_like_ours(*file) && flock(*file, LOCK_EX | LOCK_NB) == 0;
}

std::optional<std::string> random_digits() {
  std::uint64_t words[2];
  if (getrandom(words, sizeof(words), GRND_NONBLOCK) != static_cast<ssize_t>(sizeof(words))) return std::nullopt;
  return fmt::format("{:016x}{:016x}", words[0], words[1]);
}

struct Found {
  struct timespec written;
  std::string name;
};

bool older(const Found& a, const Found& b) {
  return a.written.tv_sec != b.written.tv_sec ? a.written.tv_sec < b.written.tv_sec : a.written.tv_nsec < b.written.tv_nsec;
}

}  // namespace

std::optional<CacheFolder> CacheFolder::open(const std::filesystem::path& path) {
  Descriptor folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder) return std::nullopt;
  return CacheFolder(std::move(folder));
}

std::optional<CacheFolder> CacheFolder::make(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::create_directories(path.parent_path(), error);
  // The XDG base directory specification asks for a folder that only its owner reads.
  if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return std::nullopt;
  return open(path);
}

std::optional<CacheFolder::Entry> CacheFolder::entry(const std::string& name) const {
  struct stat about;
  Descriptor file = open_own(*folder_, name, about);
  if (!file || !begins_like_ours(*file)) return std::nullopt;
  return Entry{std::move(file), static_cast<std::uint64_t>(about.st_size)};
}

bool CacheFolder::may_replace(const std::string& name) const {
  struct stat about;
  const Descriptor file = open_own(*folder_, name, about);
  return file && begins_like_ours(*file);
}

void CacheFolder::put(const std::string& name, std::string_view contents, Draft draft) const {
  if (!has_name_of_entry(name)) return;
  if (draft == Draft::kUnnamedIfPossible && put_unnamed(name, contents)) return;
  put_named(name, contents);
}

// Returns false only if a named draft might still succeed where the unnamed one failed.
bool CacheFolder::put_unnamed(const std::string& name, std::string_view contents) const {
  const Descriptor file(openat(*folder_, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600));
  if (!file) return false;
  if (!write_all(*file, contents)) return true;
  // linkat does not replace files, so an older entry is removed first. A process that reads between the two finds no entry and compiles
  // again.
  const std::string number = fmt::format("/proc/self/fd/{}", *file);
  const auto link = [&] { return linkat(AT_FDCWD, number.c_str(), *folder_, name.c_str(), AT_SYMLINK_FOLLOW) == 0; };
  if (link()) return true;
  if (errno != EEXIST) return false;
  if (may_replace(name) && unlinkat(*folder_, name.c_str(), 0) == 0) link();
  return true;
}

void CacheFolder::put_named(const std::string& name, std::string_view contents) const {
  const auto digits = random_digits();
  if (!digits) return;
  const std::string draft = *digits + std::string(kDraftEnd);
  const Descriptor file(openat(*folder_, draft.c_str(), O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY | O_CLOEXEC, 0600));
  if (!file) return;
  // The lock tells clean() that a process is still writing this draft.
  flock(*file, LOCK_EX | LOCK_NB);
  if (!write_all(*file, contents)) {
    unlinkat(*folder_, draft.c_str(), 0);
    return;
  }
  // linkat fails if the name exists or if the file system has no hard links. rename() works in both cases, but it replaces any file, so the
  // name is checked just before.
  const bool placed = linkat(*folder_, draft.c_str(), *folder_, name.c_str(), 0) == 0;
  struct stat about;
  const bool free = fstatat(*folder_, name.c_str(), &about, AT_SYMLINK_NOFOLLOW) != 0 && errno == ENOENT;
  if (!placed && (free || may_replace(name))) renameat(*folder_, draft.c_str(), *folder_, name.c_str());
  unlinkat(*folder_, draft.c_str(), 0);
}

void CacheFolder::clean() const {
  // The folder is opened again, because the position of a listing belongs to the open descriptor.
  const int again = openat(*folder_, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (again < 0) return;
  const std::unique_ptr<DIR, int (*)(DIR*)> listing(fdopendir(again), &closedir);
  if (listing == nullptr) {
    close(again);
    return;
  }
  std::vector<Found> entries;
  while (const dirent* item = readdir(listing.get())) {
    const std::string name = item->d_name;
    const bool draft = has_name_of_draft(name);
    if (!draft && !has_name_of_entry(name)) continue;
    struct stat about;
    if (fstatat(*folder_, name.c_str(), &about, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(about.st_mode)) continue;
    if (!draft) {
      entries.push_back({about.st_mtim, name});
    } else if (is_abandoned_draft(*folder_, name)) {
      unlinkat(*folder_, name.c_str(), 0);
    }
  }
  if (entries.size() <= kMaxEntries) return;
  std::sort(entries.begin(), entries.end(), older);
  // One tenth more than necessary is removed, so that not every write removes files.
  entries.resize(entries.size() - kMaxEntries + kMaxEntries / 10);
  for (const Found& found : entries) {
    if (may_replace(found.name)) unlinkat(*folder_, found.name.c_str(), 0);
  }
}

}  // namespace vyre::run
