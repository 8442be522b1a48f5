#include "vyre/run/host/processor_lists.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>

namespace vyre::run {
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
