// Counts the processors that this process may use.
#pragma once

#include <filesystem>
#include <string_view>

namespace vyre::run {

// At least 1: the fewer of what sched_getaffinity says (taskset, cpusets of containers) and of what the quota of this process's control
// group pays for. The quota is read once.
unsigned usable_processors();

// The processors that the quotas of control groups pay for, rounded up; 0 where none limits them. `groups` is the text of
// /proc/self/cgroup, `root` the folder where the hierarchies are mounted.
unsigned processors_of_quota(const std::filesystem::path& root, std::string_view groups);

}  // namespace vyre::run
