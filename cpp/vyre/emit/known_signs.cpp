#include "vyre/emit/known_signs.hpp"

namespace vyre::emit {
namespace {

using lower::Instruction;
using lower::Kernel;
using lower::Opcode;
using lower::ValueId;

// What a compiler may know about the bits of a value that is not constant.
struct Known {
  bool bits = false;  // some of them
  bool ones = false;  // some that are 1
  bool operator==(const Known&) const = default;
};
Known either(Known a, Known b) { return {a.bits || b.bits, a.ones || b.ones}; }
Known if_both(Known a, Known b) { return a.bits && b.bits ? either(a, b) : Known{}; }

Known known(const Kernel& kernel, const Instruction& it, const std::vector<Known>& values) {
  const auto operand = [&](ValueId value) { return value.valid() ? values[value.index] : Known{}; };
  const Known a = operand(it.a), b = operand(it.b);
  switch (it.op) {
    case Opcode::Constant:
      return {true, it.imm != 0};
    case Opcode::And:
      return {a.bits || b.bits, a.ones && b.ones};
    case Opcode::Not:
    case Opcode::Neg:
      return {a.bits, a.bits};
    case Opcode::Sub:
      return {a.bits && b.bits, a.bits && b.bits};
    case Opcode::Xor:
    case Opcode::Add:
      return if_both(a, b);
    case Opcode::Select:
      return if_both(b, operand(it.c));
    case Opcode::Shl:
    case Opcode::Shr:
    case Opcode::SShr:
      return {a.bits || kernel.code[it.b.index].op == Opcode::Constant, a.ones};
    default:
      if (is_comparison(it.op)) return {true, false};
      if (!is_computed(it.op)) return {};
      return either(either(a, b), either(operand(it.c), operand(it.d)));
  }
}

}  // namespace

std::vector<bool> shifts_of_known_signs(const Kernel& kernel, const Opcodes& opcodes) {
  if (!has(opcodes, Opcode::SShr)) return {};
  std::vector<Known> values(kernel.code.size()), places(place_count(kernel));
  find_places(places, Known{true, true}, opcodes, [&] {
    bool grew = false;
    for (std::size_t at = 0; at < kernel.code.size(); ++at) {
      const Instruction& it = kernel.code[at];
      const auto place = place_of(kernel, it);
      values[at] = place ? places[*place] : known(kernel, it, values);
      if (const auto written = written_value(it)) {
        const Known now = either(places[*place], values[written->index]);
        grew |= now != places[*place];
        places[*place] = now;
      }
    }
    return grew;
  });
  std::vector<bool> found;
  for (std::size_t at = 0; at < kernel.code.size(); ++at) {
    const Instruction& it = kernel.code[at];
    if (it.op != Opcode::SShr || !values[it.a.index].ones) continue;
    found.resize(kernel.code.size());
    found[at] = true;
  }
  return found;
}

}  // namespace vyre::emit
