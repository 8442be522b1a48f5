// Counts the processors that this process may use.
#pragma once

#include <filesystem>
#include <string_view>

namespace vyre::run {

// Returns how many processors sched_getaffinity allows to the calling thread (taskset, cpusets of containers), but no more than the quota
// of this process's control group pays for, and at least 1. The quota is read once.
unsigned usable_processors();

// The processors that the quotas of control groups pay for, rounded up; 0 where none limits them. `groups` is the text of
// /proc/self/cgroup, `root` the folder where the hierarchies are mounted.
unsigned processors_of_quota(const std::filesystem::path& root, std::string_view groups);

}  // namespace vyre::run
