// Generates barriers, and what invocations exchange across them. Between two barriers each memory has a role, which says which invocations
// may access which elements; a barrier gives memories new roles.
#include "vyre/fuzz/generator.hpp"
#include "vyre/ir/ops.hpp"

namespace vyre::fuzz {

using ir::BinOp;
using ir::DataType;

// Every element gets a value, each from one invocation, before an invocation reads.
void Generator::fill(const Memory& memory) {
  exprs_left_ = 6;
  const std::uint32_t rounds = (memory.part + ids_.invocations - 1) / ids_.invocations;
  const NameId name = writer_.to().name(fresh_name());
  writer_.to().loop(name, writer_.u32(0), writer_.u32(rounds));
  const ExprId round = writer_.var(name, DataType::U32, true, true);
  const ExprId index = writer_.add(writer_.times(round, ids_.invocations), ids_.local);
  const ExprId stored = memory.value() == DataType::U32 && random_.chance(50) ? writer_.binary(BinOp::Mul, index, writer_.u32(2654435761u))
                                                                              : writer_.literal(memory.value());
  rounds_ = rounds;
  spend(stored);
  spend(index);
  rounds_ = 1;
  writer_.to().store(memory.name, index, stored);
  writer_.to().end();
  writer_.to().barrier();
  ++barriers_;
}

bool Generator::barrier() {
  if (!may_wait()) return false;
  if (random_.chance(70) && exchange()) return true;
  writer_.to().barrier();
  ++barriers_;
  if (random_.chance(85)) change_roles();
  return true;
}

// A barrier that counts: what one invocation writes before it another one reads after it, or the other way round.
bool Generator::exchange() {
  std::vector<std::size_t> fitting;
  for (std::size_t k = 0; k < memory_.size(); ++k) {
    const Memory& memory = memory_[k];
    if (memory.switches() && memory.readable && memory.phase.role != Role::Atomic) fitting.push_back(k);
  }
  if (fitting.empty() || ids_.invocations == 1) return false;
  Memory& memory = memory_[random_.pick(fitting)];
  const DataType element = memory.value();
  const std::uint32_t by = 1 + random_.below(ids_.invocations - 1);
  exprs_left_ = 8;
  const auto write = [&] {
    const ExprId index = indices_.own(memory, ids_.me), stored = varied(element, 2);
    spend(index);
    spend(stored);
    writer_.to().store(memory.name, index, stored);
  };
  const auto read = [&](const Numbering& numbering) {
    const ExprId loaded = writer_.load(memory.name, element, indices_.neighbour(memory, numbering, by, ids_.me), false, true);
    spend(loaded);
    writer_.to().let(declare_variable(element, random_.chance(30), false), loaded);
  };
  const auto wait = [&](Phase next) {
    writer_.to().barrier();
    ++barriers_;
    change_roles();
    memory.phase = next;
    drop_fleeting();
  };
  Phase shared;
  shared.role = Role::Shared;
  const Numbering before = memory.phase.numbering;
  if (memory.phase.role == Role::Own) {
    write();
    wait(shared);
    return read(before), true;
  }
  read(before);
  Phase own;
  own.role = Role::Own;
  if (random_.chance(50)) own.numbering.kind = Numbering::Kind::Backwards;
  wait(own);
  return write(), true;
}

void Generator::change_roles() {
  for (Memory& memory : memory_) {
    if (!memory.switches() || random_.chance(30)) continue;
    ExprId turn = uniform_value(2);
    if (!writer_.of(turn).stable || !writer_.of(turn).uniform) turn = {};
    memory.phase = next_phase(random_, memory, ids_, turn);
  }
  drop_fleeting();
}

void Generator::drop_fleeting() {
  std::erase_if(pool_, [&](const Pooled& pooled) { return writer_.of(pooled.id).fleeting; });
}

}  // namespace vyre::fuzz
