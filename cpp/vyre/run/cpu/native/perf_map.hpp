// The list of machine code that Linux's perf reads, /tmp/perf-PID.map: it tells a profile the name of the program that an address is of.
// Written when VYRE_PERF=1 asks for it, and never otherwise.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace vyre::run::cpu::native {

bool perf_map_wanted();

// The line of a piece of code.
std::string perf_map_line(const void* start, std::size_t bytes, std::string_view name);

// Appends to the file of this process; CPython's own list goes there too. The first failure is told on stderr.
void add_to_perf_map(const void* start, std::size_t bytes, std::string_view name);

// Appends a line to a file, which is made if it is not there. Another user may have put something at the path before, so links are not
// followed, and only a plain file of this user with no other name is written. Returns what is wrong; nothing when the line is written.
std::string append_line(const char* path, std::string_view line);

}  // namespace vyre::run::cpu::native
