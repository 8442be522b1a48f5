#include "vyre/base/diagnostic.hpp"

#include <fmt/format.h>

namespace vyre {

std::string to_string(const Diagnostic& diagnostic) {
  const Place& place = diagnostic.place;
  std::string source;
  if (!place.file.empty()) {
    source = place.column > 0 ? fmt::format(" ({}:{}:{})", place.file, place.line, place.column)
                              : fmt::format(" ({}:{})", place.file, place.line);
  }
  return fmt::format("{} at {}{}: {}", diagnostic.rule, place.path, source, diagnostic.message);
}

}  // namespace vyre
