// Writes the list of machine code that Linux's perf reads, /tmp/perf-PID.map. The list tells perf which program the code at an address
// belongs to. It is written only if VYRE_PERF=1 is set.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace vyre::run::cpu::native {

bool perf_map_wanted();

// Returns the line of the list for a piece of code.
std::string perf_map_line(const void* start, std::size_t bytes, std::string_view name);

// Appends a line to the list of this process, which CPython may write to as well. The first failure is reported on stderr.
void add_to_perf_map(const void* start, std::size_t bytes, std::string_view name);

// Appends a line to a file, which is made if it is not there. Another user may have put something at the path before, so links are not
// followed, and only a plain file of this user with no other name is written. Returns what went wrong, or "" if the line was written.
std::string append_line(const char* path, std::string_view line);

}  // namespace vyre::run::cpu::native
