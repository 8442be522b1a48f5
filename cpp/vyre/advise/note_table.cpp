#include "vyre/advise/note_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace vyre::advise {

std::optional<Note> parse_note(std::string_view id) {
  auto same = [](char a, char b) { return a == static_cast<char>(std::toupper(static_cast<unsigned char>(b))); };
  for (const NoteInfo& row : kNotes) {
    if (std::equal(row.id.begin(), row.id.end(), id.begin(), id.end(), same)) return row.note;
  }
  return std::nullopt;
}

std::string explain(Note note) {
  const NoteInfo& row = info(note);
  return fmt::format("{}: {}\n\nChecks: {}\n\nWhy: {}\n\nMessages:\n  {}\n\nIn Python:\n  {}\n\nExample:\n{}", row.id, row.title,
                     row.checks, row.why, row.sentence, row.hint, row.example);
}

}  // namespace vyre::advise
