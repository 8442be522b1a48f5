#include "vyre/validate/note_list.hpp"

#include <fmt/format.h>

namespace vyre::validate {

std::string NoteWalk::new_name(std::string_view stem) {
  for (;;) {
    const std::size_t k = ++names_given_;
    std::string name = k == 1 ? std::string(stem) : fmt::format("{}_{}", stem, k);
    if (!program.names().find(name).valid()) return name;
  }
}

}  // namespace vyre::validate
