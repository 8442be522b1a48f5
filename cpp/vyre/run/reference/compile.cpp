// The compiler walks over the statements of the program, then over the bodies of the operations that it calls. Each step of a statement
// becomes one instruction that writes a slot; jumps forward get their targets when the block ends.
//
// Ids have the first slots. In each function the slots of locals follow, as a stack, then those of literals and lengths, which are filled
// once, and last those of temporaries, which every statement uses anew.
#include <algorithm>
#include <unordered_map>

#include "vyre/base/assert.hpp"
#include "vyre/ir/program.hpp"
#include "vyre/ir/semantics.hpp"
#include "vyre/run/checks/checks.hpp"
#include "vyre/run/reference/code.hpp"

namespace vyre::run::reference {
namespace {

using ir::DataType;
using validate::Facts;
using validate::Statement;
using validate::Step;
using validate::ValidOp;

constexpr Slot kNowhere = ~Slot{0};

// An operation that a Call reaches, and the slots for its arguments and its result.
struct Callee {
  const ValidOp* op;
  std::vector<Slot> parameters;
  Slot result;
  Address entry = 0;
};

class Compiler {
 public:
  explicit Compiler(Code& code) : code_(code) {}

  void run(const validate::ValidProgram& program) {
    function(program.program(), program.facts(), nullptr);
    // The list grows in this loop, when an operation calls one that was not called before.
    for (std::size_t index = 0; index < callees_.size(); ++index) {
      callees_[index].entry = here();
      const ValidOp& op = *callees_[index].op;
      const Callee callee = callees_[index];
      function(op.body(), op.facts(), &callee);
    }
    for (Instruction& instruction : code_.instructions) {
      if (instruction.code != Opcode::Call) continue;
      const Callee& callee = callees_[instruction.a];
      const std::size_t next = instruction.a + 1;
      instruction.b = (next < callees_.size() ? callees_[next].entry : here()) - callee.entry;
      instruction.a = callee.entry;
    }
  }

 private:
  // Compiles the program, or the body of `callee`.
  void function(const ir::Program& program, const Facts& facts, const Callee* callee) {
    program_ = &program;
    facts_ = &facts;
    in_operation_ = callee != nullptr;
    values_ = IdVector<ExprId, Slot>(program.exprs().size(), kNowhere);
    types_ = IdVector<ExprId, DataType>(program.exprs().size());
    jumps_ = IdVector<NodeId, Address>(program.nodes().size());
    place_locals(callee);
    place_constants();
    first_temporary_ = code_.slots;
    for (std::uint32_t index = 0; index < program.nodes().size(); ++index) statement(NodeId{index});
    node_ = NodeId{};
    emit({in_operation_ ? Opcode::Leave : Opcode::End});
  }

  // Gives slots to the locals, as a stack: when a block ends, the next block uses the slots of its locals again.
  void place_locals(const Callee* callee) {
    locals_ = IdVector<LocalId, Slot>(facts_->locals.size(), kNowhere);
    bounds_ = IdVector<NodeId, Slot>(program_->nodes().size());
    const Slot base = code_.slots;
    Slot top = base;
    Slot highest = base;
    std::vector<Slot> opened;
    auto take = [&](std::uint32_t slots) {
      top += slots;
      highest = std::max(highest, top);
      return top - slots;
    };
    auto declare = [&](LocalId local) { locals_[local] = take(ir::lanes(facts_->locals[local].type)); };
    if (callee != nullptr) {
      for (std::uint32_t k = 0; k < callee->parameters.size(); ++k) locals_[LocalId{k}] = callee->parameters[k];
    }
    for (std::uint32_t index = 0; index < program_->nodes().size(); ++index) {
      const NodeId id{index};
      match(
          program_->node(id), [&](const ir::Let&) { declare(facts_->statements[id].local); }, [](const ir::Assign&) {},
          [](const ir::Store&) {}, [&](const ir::If&) { opened.push_back(top); }, [&](const ir::Else&) { top = opened.back(); },
          [&](const ir::Loop&) {
            opened.push_back(top);
            declare(facts_->statements[id].local);
            bounds_[id] = take(1);
          },
          [&](const ir::Block&) { opened.push_back(top); },
          [&](const ir::End&) {
            top = opened.back();
            opened.pop_back();
          },
          [&](const ir::Barrier&) {
            code_.barriers = true;
            code_.kept = std::max(code_.kept, top);
          },
          [](const ir::Return&) {}, [](const ir::Break&) {});
    }
    if (callee != nullptr) locals_[callee->op->result()] = callee->result;
    code_.slots = highest;
  }

  // Literals and lengths get slots that are filled once; so do the parameters and results of operations met for the first time.
  void place_constants() {
    lengths_ = IdVector<BufferId, Slot>(program_->buffers().size(), kNowhere);
    for (const Step& step : facts_->steps) {
      Slot& place = values_[step.expr];
      auto literal = [&](std::initializer_list<std::uint32_t> lanes) {
        if (place != kNowhere) return;
        place = code_.slots;
        for (std::uint32_t lane : lanes) code_.constants.push_back({code_.slots++, lane});
      };
      match(
          program_->expr(step.expr),
          [&](const ir::Literal& it) {
            if (ir::lanes(it.type) == 1) return literal({it.low});
            literal({it.low, it.high});
          },
          [&](const ir::BufLen&) {
            Slot& length = lengths_[step.buffer];
            if (length == kNowhere) {
              length = code_.slots++;
              code_.lengths.push_back({length, step.buffer});
            }
            place = length;
          },
          [&](const ir::GridId& id) { place = id_slot(id.kind, id.axis); }, [&](const ir::Call&) { callee_of(*facts_->ops[step.op]); },
          [](const auto&) {});
    }
  }

  std::uint32_t callee_of(const ValidOp& op) {
    auto [found, fresh] = callee_index_.try_emplace(&op, static_cast<std::uint32_t>(callees_.size()));
    if (fresh) {
      Callee callee{&op, {}, 0};
      for (DataType type : op.spec().function().signature.inputs) callee.parameters.push_back(take(ir::lanes(type)));
      callee.result = take(ir::lanes(op.spec().function().signature.output));
      callees_.push_back(std::move(callee));
    }
    return found->second;
  }

  Slot take(std::uint32_t slots) {
    code_.slots += slots;
    return code_.slots - slots;
  }

  void statement(NodeId id) {
    node_ = id;
    next_temporary_ = first_temporary_;
    const Statement& facts = facts_->statements[id];
    const std::span<const Step> steps = facts_->steps_of(id);
    auto evaluate = [&](Slot wanted) {
      for (std::size_t k = 0; k < steps.size(); ++k) step(steps[k], k + 1 == steps.size() ? wanted : kNowhere);
    };
    // The last step of the statement writes its value directly to the slots of the variable. An assignment to a variable of several lanes
    // is an exception: `x = pack(lane(x, 1), lane(x, 0))` would read lanes that it has written.
    auto assign = [&](ExprId value, bool fresh) {
      const std::uint32_t lanes = ir::lanes(facts_->locals[facts.local].type);
      const Slot target = locals_[facts.local];
      evaluate(fresh || lanes == 1 ? target : kNowhere);
      if (values_[value] != target) copy(target, values_[value], lanes);
    };
    match(
        program_->node(id), [&](const ir::Let& let) { assign(let.value, true); }, [&](const ir::Assign& to) { assign(to.value, false); },
        [&](const ir::Store& store) {
          evaluate(kNowhere);
          const DataType element = program_->buffers()[facts.buffer.index].element;
          Instruction made{.code = ir::lanes(element) == 1 ? Opcode::Store : Opcode::StoreLanes,
                           .lanes = lane_count(element),
                           .a = values_[store.index],
                           .b = facts.buffer.index,
                           .c = values_[store.value]};
          if (ir::is_narrow(element)) make_narrow(made, Opcode::StoreNarrow, element);
          emit(made);
        },
        [&](const ir::If& branch) {
          evaluate(kNowhere);
          jumps_[id] = emit({.code = Opcode::JumpIfZero, .a = values_[branch.condition]});
        },
        [&](const ir::Else& otherwise) {
          jumps_[id] = emit({.code = Opcode::Jump});
          code_.instructions[jumps_[otherwise.opener]].b = here();
        },
        [&](const ir::Loop& loop) {
          evaluate(kNowhere);
          const Slot variable = locals_[facts.local];
          copy(variable, values_[loop.from], 1);
          copy(bounds_[id], values_[loop.to], 1);
          jumps_[id] = emit({.code = Opcode::EnterLoop, .a = variable, .b = bounds_[id]});
          breaks_.emplace_back();
        },
        [](const ir::Block&) {}, [&](const ir::End& end) { close(end.opener); },
        [&](const ir::Barrier&) { emit({.code = Opcode::Barrier}); }, [&](const ir::Return&) { emit({.code = Opcode::End}); },
        [&](const ir::Break&) { breaks_.back().push_back(emit({.code = Opcode::Jump})); });
  }

  void close(NodeId opener) {
    match(
        program_->node(opener),
        [&](const ir::If& branch) {
          if (branch.otherwise.valid()) {
            code_.instructions[jumps_[branch.otherwise]].a = here();
          } else {
            code_.instructions[jumps_[opener]].b = here();
          }
        },
        [&](const ir::Loop&) {
          const Instruction enter = code_.instructions[jumps_[opener]];
          emit({.code = Opcode::NextRound, .a = enter.a, .b = enter.b, .c = jumps_[opener] + 1});
          code_.instructions[jumps_[opener]].c = here();
          for (const Address jump : breaks_.back()) code_.instructions[jump].a = here();
          breaks_.pop_back();
        },
        [](const ir::Block&) {}, [](const ir::Let&) { VYRE_ASSERT(false); }, [](const ir::Assign&) { VYRE_ASSERT(false); },
        [](const ir::Store&) { VYRE_ASSERT(false); }, [](const ir::Else&) { VYRE_ASSERT(false); },
        [](const ir::End&) { VYRE_ASSERT(false); }, [](const ir::Barrier&) { VYRE_ASSERT(false); },
        [](const ir::Return&) { VYRE_ASSERT(false); }, [](const ir::Break&) { VYRE_ASSERT(false); });
  }

  // Evaluates one expression into `wanted`, unless that is kNowhere or the value has a slot already.
  void step(const Step& step, Slot wanted) {
    types_[step.expr] = step.type;
    const std::uint8_t lanes = lane_count(step.type);
    auto fresh = [&] {
      if (wanted != kNowhere) return wanted;
      const Slot slot = next_temporary_;
      next_temporary_ += lanes;
      code_.slots = std::max(code_.slots, next_temporary_);
      return slot;
    };
    auto result = [&](Instruction instruction) {
      instruction.lanes = lanes;
      instruction.dest = fresh();
      emit(instruction);
      values_[step.expr] = instruction.dest;
    };
    auto at = [&](ExprId id) { return values_[id]; };
    match(
        program_->expr(step.expr), [](const ir::Literal&) {}, [](const ir::BufLen&) {}, [](const ir::GridId&) {},
        // A statement changes a local only after all of its expressions, so a variable is read from its own slot.
        [&](const ir::Var&) { values_[step.expr] = locals_[step.local]; },
        [&](const ir::Load& load) {
          const DataType element = program_->buffers()[step.buffer.index].element;
          Instruction made{.code = step.type == DataType::Bool ? Opcode::LoadBool
                                   : lanes == 1                ? Opcode::Load
                                                               : Opcode::LoadLanes,
                           .lanes = lanes,
                           .dest = fresh(),
                           .a = at(load.index),
                           .b = step.buffer.index};
          if (ir::is_narrow(element)) make_narrow(made, Opcode::LoadNarrow, element);
          emit(made);
          values_[step.expr] = made.dest;
        },
        [&](const ir::Applied auto& it) {
          std::array<Slot, 3> slots{};
          std::ranges::transform(ir::applied_to(it), slots.begin(), at);
          // Select alone gives values of several lanes.
          const Opcode code = lanes == 1 ? opcode(it.op) : Opcode::SelectLanes;
          result({.code = code, .a = slots[0], .b = slots[1], .c = slots[2]});
        },
        [&](const ir::Cast& cast) {
          const DataType source = types_[cast.value];
          const ir::CastKind kind = ir::cast_kind(source, cast.target).value();
          if (kind == ir::CastKind::Identity || kind == ir::CastKind::LowLanes) {
            values_[step.expr] = at(cast.value);  // no code: the first lanes of the operand are the result
          } else {
            result({.code = opcode(kind), .a = at(cast.value), .b = lane_count(source)});
          }
        },
        [&](const ir::Call& call) {
          const std::uint32_t index = callee_of(*facts_->ops[step.op]);
          const Callee& callee = callees_[index];
          const std::span<const ExprId> arguments = program_->operands(call.arguments);
          for (std::size_t k = 0; k < arguments.size(); ++k) {
            copy(callee.parameters[k], at(arguments[k]), ir::lanes(callee.op->spec().function().signature.inputs[k]));
          }
          emit({.code = Opcode::Call, .a = index});
          // The result is copied out of the callee's slot, because the next call of the operation writes that slot again.
          const Slot dest = fresh();
          copy(dest, callee.result, lanes);
          values_[step.expr] = dest;
        },
        [&](const ir::Lane& lane) { values_[step.expr] = at(lane.value) + lane.lane; },
        [&](const ir::Pack& pack) {
          const Slot dest = fresh();
          const std::span<const ExprId> parts = program_->operands(pack.lanes);
          for (std::uint32_t k = 0; k < parts.size(); ++k) copy(dest + k, at(parts[k]), 1);
          values_[step.expr] = dest;
        },
        [&](const ir::Atomic& atomic) {
          const std::span<const ExprId> operands = program_->operands(atomic.operands);
          result({.code = Opcode::Atomic,
                  .op = atomic.op,
                  .a = at(operands.front()),
                  .b = step.buffer.index,
                  .c = at(operands.back()),
                  .d = atomic.has_expected ? at(operands[1]) : 0});
        });
  }

  static void make_narrow(Instruction& access, Opcode code, DataType element) {
    access.code = code;
    access.lanes = static_cast<std::uint8_t>(ir::min_bytes(element));
    access.d = static_cast<std::uint32_t>(info(element).extend);
  }

  static std::uint8_t lane_count(DataType type) { return static_cast<std::uint8_t>(ir::lanes(type)); }
  // The operators come first in Opcode, in the order of kOps, and the kinds of casts follow, in the order of casts.def. A cast that is an
  // operator has the operator's number.
  template <class Op>
  requires requires(Op op) { info(op).arity; }
  static Opcode opcode(Op op) {
    constexpr std::uint8_t kFirst = number(info(Op{}));
    return static_cast<Opcode>(kFirst + static_cast<std::uint8_t>(op));
  }
  static Opcode opcode(ir::CastKind kind) {
    const auto number = static_cast<std::size_t>(kind);
    return static_cast<Opcode>(ir::kBinOps.size() + number + (number < ir::kUnOps.size() ? 0 : ir::kTernOps.size()));
  }

  void copy(Slot dest, Slot source, std::uint32_t lanes) {
    emit({.code = lanes == 1 ? Opcode::Copy : Opcode::CopyLanes, .lanes = static_cast<std::uint8_t>(lanes), .dest = dest, .a = source});
  }

  Address emit(const Instruction& instruction) {
    code_.instructions.push_back(instruction);
    code_.statements.push_back(in_operation_ ? NodeId{} : node_);
    return here() - 1;
  }
  Address here() const { return static_cast<Address>(code_.instructions.size()); }

  Code& code_;
  std::vector<Callee> callees_;
  std::unordered_map<const ValidOp*, std::uint32_t> callee_index_;

  // The members below describe the function that is being compiled.
  const ir::Program* program_ = nullptr;
  const Facts* facts_ = nullptr;
  bool in_operation_ = false;
  IdVector<LocalId, Slot> locals_;
  IdVector<NodeId, Slot> bounds_;             // by Loop: the slot of its upper bound
  IdVector<NodeId, Address> jumps_;           // by If, Else or Loop: the jump to its end, whose target is filled in there
  std::vector<std::vector<Address>> breaks_;  // of each open Loop, the innermost last: jumps to its end
  IdVector<BufferId, Slot> lengths_;          // by buffer, when a BufLen of it was met
  IdVector<ExprId, Slot> values_;             // by expression of the current statement; literals keep theirs for the whole function
  IdVector<ExprId, DataType> types_;
  Slot first_temporary_ = 0, next_temporary_ = 0;
  NodeId node_;
};

}  // namespace

Code compile(const validate::ValidProgram& program) {
  Code code;
  Compiler(code).run(program);
  code.shared = accessed_buffers(program, ir::BufferAccess::Workgroup);
  code.privates = accessed_buffers(program, ir::BufferAccess::Private);
  return code;
}

}  // namespace vyre::run::reference
