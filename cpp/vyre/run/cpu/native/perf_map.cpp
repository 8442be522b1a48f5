#include "vyre/run/cpu/native/perf_map.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "vyre/base/descriptor.hpp"

namespace vyre::run::cpu::native {
bool perf_map_wanted() {
  const char* value = std::getenv("VYRE_PERF");
  return value != nullptr && std::string_view(value) == "1";
}

std::string perf_map_line(const void* start, std::size_t bytes, std::string_view name) {
  return fmt::format("{:x} {:x} {}\n", reinterpret_cast<std::uintptr_t>(start), bytes, name);
}

std::string append_line(const char* path, std::string_view line) {
  // Opens the file without blocking, because a pipe without a reader must not hold the program up.
  const Descriptor file(open(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (!file) return std::strerror(errno);
  struct stat found {};
  if (fstat(*file, &found) != 0) return std::strerror(errno);
  if (!S_ISREG(found.st_mode)) return "it is not a plain file";
  if (found.st_uid != geteuid()) return "it belongs to another user";
  if (found.st_nlink != 1) return "it has another name too";
  // Writes the line in one call, so that lines of several threads do not mix.
  const ssize_t written = ::write(*file, line.data(), line.size());
  if (written < 0) return std::strerror(errno);
  return static_cast<std::size_t>(written) == line.size() ? "" : "no room is left";
}

void add_to_perf_map(const void* start, std::size_t bytes, std::string_view name) {
  // Reads the process id each time, because a forked process has a list of its own.
  const std::string path = fmt::format("/tmp/perf-{}.map", getpid());
  const std::string problem = append_line(path.c_str(), perf_map_line(start, bytes, name));
  if (problem.empty()) return;
  static std::once_flag told;
  std::call_once(told, [&] {
    fmt::print(stderr, "vyre: cannot write {} for VYRE_PERF=1: {}. Fix: remove it, or leave VYRE_PERF out.\n", path, problem);
  });
}

}  // namespace vyre::run::cpu::native
