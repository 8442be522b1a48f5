// Plants a defect in a program, on memory of its own, so that nothing else in the program hides or excuses it.
#include "vyre/fuzz/generator.hpp"
#include "vyre/ir/ops.hpp"

namespace vyre::fuzz {

using ir::BinOp;
using ir::BufferAccess;
using ir::DataType;

namespace {

bool has_atomics(Plant plant) {
  switch (plant) {
    case Plant::PlainBesideAtomic:
    case Plant::LoadBesideAtomic:
    case Plant::AtomicOutOfBounds:
    case Plant::OrderedAtomic:
    case Plant::AtomicsAlone:
      return true;
    default:
      return false;
  }
}

}  // namespace

void Generator::declare_planted() {
  const Plant plant = *options_.plant;
  const bool atomics = has_atomics(plant);
  const bool across = plant == Plant::AcrossWorkgroups;
  const bool shared = plant == Plant::UnwrittenShared || (atomics ? later_random_.chance(50) : !across && random_.chance(50));
  // Constant: nothing but the defect touches it.
  Memory& memory = declare("planted", shared ? BufferAccess::Workgroup : BufferAccess::ReadWrite, DataType::U32, Role::Constant, true);
  if (atomics) {
    memory.decl.element = DataType::U32;
    memory.decl.atomic = shared;
  }
  if (plant == Plant::NarrowNeighbours) {
    memory.decl.element = narrow_random_.chance(50) ? DataType::U8 : DataType::U16;
    memory.decl.atomic = false;
  }
  memory.readable = false;  // no other statement reads it
  memory.zeros = false;
  planted_memory_ = memory_.size() - 1;
  declare("planted_out", BufferAccess::ReadWrite, DataType::U32, Role::Own, false);
  memory_.back().decl.element = DataType::U32;  // U32 keeps every bit that a defect may change
  memory_.back().zeros = false;
  memory_.back().readable = false;
  planted_sink_ = memory_.size() - 1;
}

ExprId Generator::at(const Memory& memory, ExprId index) {
  if (memory.decl.access == BufferAccess::Workgroup) return index;
  return writer_.add(writer_.times(ids_.group, memory.part), index);
}

ExprId Generator::turned(std::uint32_t by) {
  return writer_.binary(BinOp::Mod, writer_.add(ids_.local, by), writer_.u32(ids_.invocations));
}

NodeId Generator::here() { return NodeId{static_cast<std::uint32_t>(writer_.to().node_count())}; }

void Generator::store_planted(ExprId stored) {
  const Memory& memory = memory_[planted_sink_];
  writer_.to().store(memory.name, indices_.own(memory, ids_.me), stored);
}

// Below nothing, or below something that every invocation enters.
void Generator::plant() {
  exprs_left_ = 8;
  switch (random_.below(4)) {
    case 0:
      writer_.to().if_(writer_.binary(BinOp::BitOr, uniform_value(1), writer_.u32(1)));
      body(true, 1, [&] { plant_here(); });
      return writer_.to().end();
    case 1: {
      const NameId name = writer_.to().name(fresh_name());
      writer_.to().loop(name, writer_.u32(0), writer_.u32(1));
      body(true, 1, [&] { plant_here(); });
      return writer_.to().end();
    }
    case 2:
      writer_.to().block();
      body(true, 1, [&] { plant_here(); });
      return writer_.to().end();
    default:
      return plant_here();
  }
}

// A barrier that only a part of the workgroup reaches.
NodeId Generator::plant_barrier() {
  ir::ProgramBuilder& to = writer_.to();
  const auto some = [&] { return writer_.binary(BinOp::Eq, ids_.local, writer_.u32(random_.below(ids_.invocations))); };
  if (options_.plant == Plant::DivergentReturn) {
    to.if_(some());
    to.return_();
    to.end();
    returned_ = true;
  } else if (options_.plant == Plant::DivergentIf) {
    to.if_(random_.chance(50) ? some() : writer_.binary(BinOp::BitAnd, ids_.local, writer_.u32(1)));
  } else {
    const NameId name = to.name(fresh_name());
    to.loop(name, writer_.u32(0), writer_.add(writer_.binary(BinOp::BitAnd, ids_.local, writer_.u32(1)), random_.below(2)));
  }
  const NodeId barrier = here();
  to.barrier();
  if (options_.plant != Plant::DivergentReturn) to.end();
  return barrier;
}

void Generator::plant_here() {
  const Memory memory = memory_[planted_memory_];
  ir::ProgramBuilder& to = writer_.to();
  std::vector<NodeId> found;
  const auto store = [&](ExprId index, ExprId stored) {
    found.push_back(here());
    to.store(memory.name, index, stored);
  };
  const auto let = [&](ExprId initial) {
    found.push_back(here());
    const std::string name = fresh_name();
    const NameId id = to.name(name);
    to.let(id, initial);
    return writer_.var(id, DataType::U32, false, false);
  };
  const auto load = [&](ExprId index) { return writer_.load(memory.name, DataType::U32, index, false, true); };
  const auto atomic = [&](ir::AtomicOp op, ExprId index, ExprId operand) {
    return writer_.atomic(op, memory.name, index, {}, operand, true);
  };
  const auto some = [&] { return value(DataType::U32, 2); };
  // 1 .. invocations - 1: an element of another invocation.
  const std::uint32_t other = 1 + random_.below(ids_.invocations - 1);

  switch (*options_.plant) {
    case Plant::DroppedBarrier: {
      store(at(memory, ids_.local), some());
      store_planted(let(load(at(memory, turned(other)))));
      break;
    }
    case Plant::Neighbour:
      store(at(memory, ids_.local), some());
      store(at(memory, turned(other)), some());
      break;
    case Plant::PlainBesideAtomic:
      let(atomic(ir::AtomicOp::Add, at(memory, turned(other)), some()));
      store(at(memory, ids_.local), some());
      break;
    case Plant::LoadBesideAtomic:
      let(atomic(ir::AtomicOp::Add, at(memory, turned(other)), some()));
      store_planted(let(load(at(memory, ids_.local))));
      break;
    case Plant::AtomicsAlone: {
      const std::uint32_t element = random_.below(ids_.invocations);
      let(atomic(ir::AtomicOp::Add, at(memory, writer_.u32(element)), some()));
      to.barrier();
      ++barriers_;
      store_planted(let(load(at(memory, writer_.u32(element)))));
      break;
    }
    case Plant::NarrowNeighbours:
      store(at(memory, ids_.local), some());
      to.barrier();
      ++barriers_;
      store_planted(let(load(at(memory, turned(other)))));
      break;
    case Plant::SameValue:
      store(at(memory, writer_.u32(random_.below(ids_.invocations))), writer_.u32(7));
      break;
    case Plant::AcrossWorkgroups:
      to.barrier();
      store(ids_.local, some());
      to.barrier();
      barriers_ += 2;
      break;
    case Plant::LoadOutOfBounds:
      store_planted(let(load(indices_.outside(memory, some()))));
      break;
    case Plant::StoreOutOfBounds: {
      const ExprId any = some();
      store(indices_.outside(memory, any), some());
      break;
    }
    case Plant::AtomicOutOfBounds: {
      const ExprId any = some();
      let(atomic(ir::AtomicOp::Add, indices_.outside(memory, any), some()));
      break;
    }
    case Plant::UnwrittenShared:
      store_planted(let(load(ids_.local)));
      break;
    case Plant::DivergentIf:
    case Plant::DivergentLoop:
    case Plant::DivergentReturn:
      found.push_back(plant_barrier());
      break;
    case Plant::OrderedAtomic: {
      const ExprId old = let(atomic(ir::AtomicOp::Add, at(memory, writer_.u32(0)), writer_.u32(1)));
      found.push_back(here());
      store_planted(old);
      break;
    }
  }
  const bool named = info(*options_.plant).defect != Defect::DivergentBarrier;
  planted_ = Planted{*options_.plant, std::move(found), named ? memory.decl.name : std::string()};
}

}  // namespace vyre::fuzz
