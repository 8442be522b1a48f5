// A control group of version 2 has its quota in cpu.max ("max 100000", or microseconds in each period), one of version 1 in
// cpu.cfs_quota_us (-1 for none) and cpu.cfs_period_us. A group is also limited by the quotas of its parent groups. Within a container, the
// path of the group may be the host's path, which does not exist in the container: the root of the hierarchy is then the container's own
// group.
#include "vyre/run/host/processors.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <thread>

namespace vyre::run {
namespace {

constexpr unsigned kNotRead = ~0u;

std::optional<unsigned> processors(std::int64_t quota, std::int64_t period) {
  if (quota <= 0 || period <= 0) return std::nullopt;
  return static_cast<unsigned>(std::min<std::int64_t>((quota - 1) / period + 1, 1 << 16));
}

std::optional<unsigned> limit_of_version_2(const std::filesystem::path& group) {
  std::ifstream file(group / "cpu.max");
  std::int64_t quota = 0, period = 0;
  if (!(file >> quota >> period)) return std::nullopt;  // also where the first word is `max`
  return processors(quota, period);
}

std::optional<unsigned> limit_of_version_1(const std::filesystem::path& group) {
  std::ifstream quota_file(group / "cpu.cfs_quota_us"), period_file(group / "cpu.cfs_period_us");
  std::int64_t quota = 0, period = 0;
  if (!(quota_file >> quota) || !(period_file >> period)) return std::nullopt;
  return processors(quota, period);
}

// Returns the least limit of the group and of its parent groups, up to the hierarchy's root.
template <class Limit>
std::optional<unsigned> least_limit(const std::filesystem::path& hierarchy, std::string_view group, const Limit& limit) {
  std::optional<unsigned> least = limit(hierarchy);
  std::filesystem::path folder = hierarchy;
  for (const std::filesystem::path& part : std::filesystem::path(group).relative_path()) {
    folder /= part;
    const std::optional<unsigned> found = limit(folder);
    if (found && (!least || *found < *least)) least = found;
  }
  return least;
}

bool has_name(std::string_view list, std::string_view name) {
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(','), list.size());
    if (list.substr(0, end) == name) return true;
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return false;
}

unsigned quota_of_this_process() {
  std::ifstream file("/proc/self/cgroup");
  const std::string groups{std::istreambuf_iterator<char>(file), {}};
  return processors_of_quota("/sys/fs/cgroup", groups);
}

// The quota is read without a lock: threads that need it first at the same time all read it, with the same result. With a lock, a child
// that was forked during the read would hang.
std::atomic<unsigned> quota = kNotRead;

unsigned known_quota() {
  unsigned known = quota.load(std::memory_order_relaxed);
  if (known != kNotRead) return known;
  try {
    known = quota_of_this_process();
  } catch (const std::exception&) {
    return 0;  // no memory at this moment
  }
  quota.store(known, std::memory_order_relaxed);
  return known;
}

}  // namespace

unsigned processors_of_quota(const std::filesystem::path& root, std::string_view groups) {
  std::optional<unsigned> least;
  // Lines of `number:controllers:path`; version 2 has no controllers there.
  while (!groups.empty()) {
    const std::string_view line = groups.substr(0, groups.find('\n'));
    groups.remove_prefix(std::min(line.size() + 1, groups.size()));
    const std::size_t first = line.find(':'), second = first == line.npos ? first : line.find(':', first + 1);
    if (second == line.npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1), path = line.substr(second + 1);
    std::optional<unsigned> found;
    if (controllers.empty()) {
      found = least_limit(root, path, limit_of_version_2);
    } else if (has_name(controllers, "cpu")) {
      // A hierarchy of version 1 is mounted under the joined names of its controllers, with a link for each name.
      found = least_limit(root / "cpu", path, limit_of_version_1);
    }
    if (found && (!least || *found < *least)) least = found;
  }
  return least.value_or(0);
}

unsigned usable_processors() {
  cpu_set_t set;
  const bool known = sched_getaffinity(0, sizeof set, &set) == 0;
  const unsigned present = std::max(1u, known ? static_cast<unsigned>(CPU_COUNT(&set)) : std::thread::hardware_concurrency());
  const unsigned paid = known_quota();
  return paid == 0 ? present : std::min(present, paid);
}

namespace {

constexpr unsigned kMostProcessors = 1u << 16;

}  // namespace

std::string first_line(const std::filesystem::path& path) {
  std::string line;
  std::ifstream file(path);
  std::getline(file, line);
  return line;
}

std::vector<unsigned> processors_in(const std::string& list) {
  std::vector<unsigned> result;
  std::istringstream text(list);
  for (std::string range; std::getline(text, range, ',');) {
    std::istringstream ends(range);
    unsigned first = 0, last = 0;
    char dash = 0;
    if (!(ends >> first)) continue;
    if (!(ends >> dash >> last)) last = first;
    for (unsigned each = first; each <= std::min(last, kMostProcessors); ++each) result.push_back(each);
  }
  return result;
}

std::vector<unsigned> usable_processor_numbers() {
  std::vector<unsigned> result;
  cpu_set_t set;
  if (sched_getaffinity(getpid(), sizeof set, &set) != 0) return result;  // the main thread's number is the process's
  for (unsigned each = 0; each < CPU_SETSIZE; ++each) {
    if (CPU_ISSET(each, &set)) result.push_back(each);
  }
  return result;
}

}  // namespace vyre::run
