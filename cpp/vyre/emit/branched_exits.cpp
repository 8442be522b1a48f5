#include "vyre/emit/branched_exits.hpp"

#include <cstdint>

namespace vyre::emit {
namespace {

// A list of statements that has not ended.
struct List {
  std::uint32_t opener;
  bool is_body;               // of a loop
  bool has_branched = false;  // an If or Loop stands in it
};

}  // namespace

std::vector<bool> loops_with_branched_exits(const lower::Kernel& kernel, const Opcodes& opcodes) {
  using lower::Opcode;
  if (!has(opcodes, Opcode::Loop)) return {};
  std::vector<bool> found;
  std::vector<List> open;
  for (std::uint32_t at = 0; at < kernel.code.size(); ++at) {
    switch (const Opcode op = kernel.code[at].op) {
      case Opcode::If:
      case Opcode::Loop:
        open.push_back({at, op == Opcode::Loop});
        break;
      case Opcode::Else:
        open.back().has_branched = false;
        break;
      case Opcode::EndIf:
      case Opcode::EndLoop:
        open.pop_back();
        if (!open.empty()) open.back().has_branched = true;
        break;
      case Opcode::Break:
      case Opcode::Return: {
        bool branched = false, behind_loop = false;  // a Return leaves each loop on its way behind the loops in it
        for (auto list = open.rbegin(); list != open.rend(); ++list) {
          if (list->is_body && branched) {
            found.resize(kernel.code.size());
            found[list->opener] = true;
          }
          if (list->is_body && op == Opcode::Break) break;
          branched |= list->has_branched || behind_loop;
          behind_loop = list->is_body;
        }
        break;
      }
      default:
        break;
    }
  }
  return found;
}

}  // namespace vyre::emit
