// Notes: what is probably not meant in a program that keeps every rule. They never stop a program, and are computed only when asked for.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "vyre/base/diagnostic.hpp"
#include "vyre/validate/valid.hpp"

namespace vyre::validate {

enum class Note : std::uint8_t {
#define NOTE(id, ...) id,
#include "vyre/validate/notes.def"
};

struct NoteInfo {
  Note note;
  std::string_view id;  // "N001"
  std::string_view title, checks, why, sentence, hint, example;
};

inline constexpr std::array kNotes = {
#define NOTE(id, title, checks, why, sentence, hint, example) NoteInfo{Note::id, #id, title, checks, why, sentence, hint, example},
#include "vyre/validate/notes.def"
};
constexpr const NoteInfo& info(Note note) { return kNotes[static_cast<std::size_t>(note)]; }

// "N004" in any case; nothing when there is no such note.
std::optional<Note> parse_note(std::string_view id);

std::string explain(Note note);

// The call that the notes are about, as far as it is known.
struct NotedCall {
  std::map<std::string, std::uint32_t, std::less<>> lengths;      // elements, by the name of the buffer
  std::optional<std::array<std::uint32_t, 3>> workgroups;
};

// In program order; at one place by number. Takes time in proportion to the program.
Diagnostics notes(const ValidProgram& program, const NotedCall& call = {});

}  // namespace vyre::validate
