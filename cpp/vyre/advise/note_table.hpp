// The notes by name, their sentences, and what they are for. Everything is read from note_table.def.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace vyre::advise {

enum class Note : std::uint8_t {
#define NOTE(id, ...) id,
#include "vyre/advise/note_table.def"
};

struct NoteInfo {
  Note note;
  std::string_view id;  // "N001"
  std::string_view title, checks, why, sentence, hint, example;
};

inline constexpr std::array kNotes = {
#define NOTE(id, title, checks, why, sentence, hint, example) NoteInfo{Note::id, #id, title, checks, why, sentence, hint, example},
#include "vyre/advise/note_table.def"
};
constexpr const NoteInfo& info(Note note) { return kNotes[static_cast<std::size_t>(note)]; }

// "N004" in any case; nothing when there is no such note.
std::optional<Note> parse_note(std::string_view id);

std::string explain(Note note);

}  // namespace vyre::advise
