#include "vyre/base/diagnostic.hpp"

#include <fmt/format.h>

namespace vyre {

std::string source_text(const Place& place) {
  if (place.file.empty()) return {};
  return place.column > 0 ? fmt::format("{}:{}:{}", place.file, place.line, place.column) : fmt::format("{}:{}", place.file, place.line);
}

std::string to_string(const Diagnostic& diagnostic) { return to_string(diagnostic, source_text(diagnostic.place), {}); }

std::string to_string(const Diagnostic& diagnostic, std::string_view source, std::string_view excerpt) {
  std::string text = fmt::format("{} at {}", diagnostic.rule, diagnostic.place.path);
  if (!source.empty()) text += fmt::format(" ({})", source);
  text += fmt::format(": {}", diagnostic.message);
  if (!excerpt.empty()) text += fmt::format("\n{}", excerpt);
  if (!diagnostic.hint.empty()) text += fmt::format("\n  In Python: {}", diagnostic.hint);
  return text;
}

}  // namespace vyre
