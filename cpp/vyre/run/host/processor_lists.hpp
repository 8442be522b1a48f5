// Reads the lists of processors that Linux has in /sys, and the processors that the process may use.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace vyre::run {

// The first line of a file; empty if it cannot be read.
std::string first_line(const std::filesystem::path& path);

// The numbers in a list such as "0-7,16", in its order.
std::vector<unsigned> processors_in(const std::string& list);

// The numbers of the processors that sched_getaffinity allows to the main thread of the process, ascending; empty if the system does not
// say. What is read once for the whole process goes by these, whichever thread needs it first: a thread may be kept to a few of them.
std::vector<unsigned> usable_processor_numbers();

}  // namespace vyre::run
