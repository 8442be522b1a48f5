// Counts the processors that this process may use.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace vyre::run {

// Returns how many processors sched_getaffinity allows to the calling thread (taskset, cpusets of containers), but no more than the quota
// of this process's control group pays for, and at least 1. The quota is read once.
unsigned usable_processors();

// The processors that the quotas of control groups pay for, rounded up; 0 where none limits them. `groups` is the text of
// /proc/self/cgroup, `root` the folder where the hierarchies are mounted.
unsigned processors_of_quota(const std::filesystem::path& root, std::string_view groups);

// The first line of a file; empty if it cannot be read.
std::string first_line(const std::filesystem::path& path);

// The numbers in a list such as "0-7,16", in its order.
std::vector<unsigned> processors_in(const std::string& list);

// The numbers of the processors that sched_getaffinity allows to the main thread of the process, ascending; empty if the system does not
// say. What is read once for the whole process goes by these, whichever thread needs it first: a thread may be kept to a few of them.
std::vector<unsigned> usable_processor_numbers();

}  // namespace vyre::run
