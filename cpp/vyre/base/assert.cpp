#include "vyre/base/assert.hpp"

#include <fmt/format.h>

#include <string_view>

namespace vyre {

void assertion_failed(const char* condition, const char* file, int line) {
  // Only the part below the source root, so that no build machine's path is shown.
  std::string_view place(file);
  if (auto at = place.rfind("vyre/"); at != std::string_view::npos) place.remove_prefix(at);
  throw BugError(fmt::format("internal error: `{}` does not hold at {}:{}. Fix: please report it with the program that shows it.",
                             condition, place, line));
}

}  // namespace vyre
