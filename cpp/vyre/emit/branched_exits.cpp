#include "vyre/emit/branched_exits.hpp"

namespace vyre::emit {
namespace {

// A list of statements that has not ended.
struct List {
  std::uint32_t opener;
  bool is_body;               // of a loop
  bool has_branched = false;  // an If or Loop stands in it
  bool has_left = false;      // no invocation comes to its end
  bool then_left = false;     // of an Else: the same of the list before it
  bool is_else = false;
};

}  // namespace

std::vector<BranchedExits> branched_exits(const lower::Kernel& kernel, const Opcodes& opcodes) {
  using lower::Opcode;
  if (!has(opcodes, Opcode::Loop)) return {};
  std::vector<BranchedExits> found;
  std::vector<List> open;
  for (std::uint32_t at = 0; at < kernel.code.size(); ++at) {
    switch (const Opcode op = kernel.code[at].op) {
      case Opcode::If:
      case Opcode::Loop:
        open.push_back({at, op == Opcode::Loop});
        break;
      case Opcode::Else:
        open.back() = {.opener = open.back().opener, .is_body = false, .then_left = open.back().has_left, .is_else = true};
        break;
      case Opcode::EndIf:
      case Opcode::EndLoop: {
        const List closed = open.back();
        open.pop_back();
        if (closed.is_body && closed.has_left && !found.empty() && found[closed.opener] != BranchedExits::None) {
          found[closed.opener] = BranchedExits::OfOneTurn;
        }
        if (open.empty()) break;
        open.back().has_branched = true;
        open.back().has_left |= !closed.is_body && closed.is_else && closed.then_left && closed.has_left;
        break;
      }
      case Opcode::Break:
      case Opcode::Return: {
        bool branched = false, behind_loop = false;  // a Return leaves each loop on its way behind the loops in it
        for (auto list = open.rbegin(); list != open.rend(); ++list) {
          if (list->is_body && branched) {
            found.resize(kernel.code.size());
            found[list->opener] = BranchedExits::OfTurns;
          }
          if (list->is_body && op == Opcode::Break) break;
          branched |= list->has_branched || behind_loop;
          behind_loop = list->is_body;
        }
        if (!open.empty()) open.back().has_left = true;
        break;
      }
      default:
        break;
    }
  }
  return found;
}

}  // namespace vyre::emit
