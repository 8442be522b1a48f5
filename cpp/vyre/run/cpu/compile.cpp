// Compiles a kernel to code over registers in four steps: it finds the values that differ between lanes (uniformity), selects instructions,
// computes live ranges, and then assigns registers and writes the code in one walk.
#include <algorithm>
#include <limits>
#include <utility>

#include "vyre/base/assert.hpp"
#include "vyre/ir/data_type.hpp"
#include "vyre/run/cpu/code.hpp"
#include "vyre/run/cpu/kernel_reader.hpp"
#include "vyre/run/cpu/live_ranges.hpp"
#include "vyre/run/cpu/registers.hpp"
#include "vyre/run/cpu/select.hpp"
#include "vyre/run/cpu/uniformity.hpp"

namespace vyre::run::cpu {
namespace {

using lower::Kernel;
using lower::Opcode;
using lower::ValueId;
using KernelInstruction = lower::Instruction;

class Compiler : KernelReader {
 public:
  Compiler(const Kernel& kernel, const Uniformity& uniformity)
      : KernelReader(kernel, uniformity),
        selected_(select_instructions(kernel)),
        live_(compute_live_ranges(kernel, uniformity_, selected_)),
        registers_(result_, kernel.code.size()) {
    result_.whole_workgroups = uniformity_.whole_workgroups;
    result_.private_words = static_cast<std::uint32_t>(kernel.private_bytes() / sizeof(Word));
  }

  Code run() {
    variables_.resize(kernel_.variables.size());
    for (std::size_t variable = 0; variable < variables_.size(); ++variable) {
      const std::uint32_t lanes = kernel_.variables[variable];
      variables_[variable] = uniformity_.variable_varies[variable] ? registers_.take_vector(lanes) : registers_.new_scalar(lanes);
    }
    for (std::uint32_t position = 0; position < size_; ++position) {
      // An elementwise result may take the register of an operand that is used for the last time.
      const bool in_place = selected_[position] != Selected::Nothing && is_elementwise(kernel_, uniformity_, position);
      if (in_place) registers_.expire(position);
      if (selected_[position] != Selected::Nothing) emit(position);
      if (!in_place) registers_.expire(position);
    }
    lead(empties_, add({.op = Op::Stop}));
    return std::move(result_);
  }

 private:
  // Assigns registers to the value of the instruction at `position`, and returns the first one.
  std::uint32_t define(std::uint32_t position) {
    const std::uint32_t lanes = at(position).lanes;
    if (!varies(position)) return registers_.assign(position, registers_.new_scalar(lanes));
    if (const std::uint32_t variable = live_.made_in[position]; variable != LiveRanges::kNoVariable) {
      return registers_.assign(position, variables_[variable]);
    }
    const std::uint32_t reg = registers_.take_vector(lanes);
    registers_.free_after(std::max(live_.last_use[position], position), reg, lanes);
    return registers_.assign(position, reg);
  }

  // Returns the Row of a register. Only registers of ids have one, and these never hold other values.
  std::uint8_t row(std::uint32_t index) const {
    return static_cast<std::uint8_t>(!is_scalar(index) && index < rows_.size() ? rows_[index] : Row::No);
  }

  std::uint32_t add(const Instruction& instruction) {
    result_.instructions.push_back(instruction);
    return static_cast<std::uint32_t>(result_.instructions.size() - 1);
  }
  std::uint32_t here() const { return static_cast<std::uint32_t>(result_.instructions.size()); }

  // Copies registers: dest = source in all lanes, for vectors and for scalars.
  void copy(std::uint32_t dest, std::uint32_t source, std::uint32_t lanes) {
    if (dest == source) return;
    for (std::uint32_t lane = 0; lane < lanes; ++lane) {
      add({.op = is_scalar(dest) ? Op::ScalarCopy : Op::VectorCopy, .dest = dest + lane, .a = source + lane});
    }
  }
  // Returns the operand if it is a vector register. Otherwise copies it to a vector register that is free again after `position`.
  std::uint32_t as_vector(std::uint32_t operand, std::uint32_t position) {
    if (!is_scalar(operand)) return operand;
    const std::uint32_t reg = registers_.take_vector(1);
    registers_.free_after(position, reg, 1);
    copy(reg, operand, 1);
    return reg;
  }

  void emit(std::uint32_t position) {
    const KernelInstruction& instruction = at(position);
    if (lower::is_lanewise(instruction.op)) return instruction.c.valid() ? emit_ternary(position) : emit_lanewise(position);
    if (lower::is_atomic(instruction.op)) return emit_atomic(position);
    switch (instruction.op) {
      case Opcode::Constant:
        registers_.assign(position, registers_.constant(instruction.imm));
        return;
      case Opcode::Length:
        result_.lengths.emplace_back(define(position), instruction.imm);
        return;
      case Opcode::WorkgroupId:
      case Opcode::LocalId:
      case Opcode::InvocationId:
        return emit_id(position);
      case Opcode::Select:
        return emit_ternary(position);
      case Opcode::WideDiv:
      case Opcode::WideMod:
        return emit_wide(position);
      case Opcode::Lane:
        registers_.assign(position, registers_.of(instruction.a) + instruction.imm);
        return;
      case Opcode::Pack:
        return emit_pack(position);
      case Opcode::ReadVariable:
        return emit_read(position);
      case Opcode::WriteVariable:
        return emit_write(position);
      case Opcode::LoadBuffer:
        return emit_load(position, Op::Load, Op::ScalarLoad);
      case Opcode::LoadShared:
        return emit_load(position, Op::LoadShared, Op::ScalarLoadShared);
      case Opcode::StoreBuffer:
        return emit_store(position, Op::Store, Op::ScalarStore);
      case Opcode::StoreShared:
        return emit_store(position, Op::StoreShared, Op::ScalarStoreShared);
      case Opcode::LoadPrivate:
        return emit_load(position, Op::LoadPrivate, Op::LoadPrivate);
      case Opcode::StorePrivate:
        return emit_store(position, Op::StorePrivate, Op::StorePrivate);
      case Opcode::If:
        return emit_if(registers_.of(instruction.a));
      case Opcode::Else:
        return emit_else();
      case Opcode::EndIf:
        return emit_end_if();
      case Opcode::Loop:
        return emit_loop(position);
      case Opcode::EndLoop:
        return emit_end_loop();
      case Opcode::Barrier:
        return;  // no code: the batch is the workgroup, and each instruction runs over all its lanes before the next one
      case Opcode::Return:
        goes_on_elsewhere(add({.op = Op::Return}));
        return;
      case Opcode::Break:
        return emit_break();
      default:
        VYRE_ASSERT(!"an opcode of the cpu target");
    }
  }

  // --- Values ---

  // Operands are looked up before define(), because the result may take the register of an operand that is not used afterwards.
  void emit_lanewise(std::uint32_t position) {
    const KernelInstruction& instruction = at(position);
    const auto function = static_cast<std::uint8_t>(instruction.op);
    const bool is_binary = instruction.b.valid(), is_vector = varies(position);
    const std::uint32_t a = registers_.of(instruction.a), b = registers_.of(instruction.b);
    const Form form = is_scalar(b) ? Form::VectorScalar : is_scalar(a) ? Form::ScalarVector : Form::VectorVector;
    add({.op = is_binary   ? is_vector ? Op::Vector2 : Op::Scalar2
               : is_vector ? Op::Vector1
                           : Op::Scalar1,
         .function = function,
         .form = static_cast<std::uint8_t>(is_binary && is_vector ? form : Form::VectorVector),
         .dest = define(position),
         .a = a,
         .b = b});
  }

  void emit_wide(std::uint32_t position) {
    const KernelInstruction& instruction = at(position);
    const std::uint32_t a = registers_.of(instruction.a), b = registers_.of(instruction.b);
    add({.op = Op::Wide, .function = static_cast<std::uint8_t>(instruction.op), .dest = define(position), .a = a, .b = b});
  }

  // Registers of ids are filled before the code runs, and never hold other values.
  void emit_id(std::uint32_t position) {
    const KernelInstruction& instruction = at(position);
    const std::uint32_t reg = varies(position) ? registers_.new_vector(1) : registers_.new_scalar(1);
    registers_.assign(position, reg);
    if (varies(position) && instruction.imm == 0 && instruction.op != Opcode::WorkgroupId) {
      rows_.resize(reg + 1, Row::No);
      rows_[reg] = instruction.op == Opcode::InvocationId ? Row::Invocation : Row::Local;
    }
    result_.ids.push_back({instruction.op, instruction.imm, reg});
  }

  void emit_ternary(std::uint32_t position) {
    const KernelInstruction& instruction = at(position);
    const std::uint32_t b = registers_.of(instruction.b), c = registers_.of(instruction.c);
    std::uint32_t a = registers_.of(instruction.a);
    if (varies(position)) a = as_vector(a, position);
    const std::uint32_t dest = define(position);
    for (std::uint32_t lane = 0; lane < instruction.lanes; ++lane) {
      add({.op = varies(position) ? Op::Vector3 : Op::Scalar3,
           .function = static_cast<std::uint8_t>(instruction.op),
           .form = static_cast<std::uint8_t>((is_scalar(b) ? 1 : 0) | (is_scalar(c) ? 2 : 0)),
           .dest = dest + lane,
           .a = a,
           .b = b + lane,
           .c = c + lane});
    }
  }

  void emit_pack(std::uint32_t position) {
    const KernelInstruction& instruction = at(position);
    const std::uint32_t dest = define(position);
    std::uint32_t lane = 0;
    for (const ValueId part : instruction.operands()) {
      if (part.valid()) copy(dest + lane++, registers_.of(part), 1);
    }
  }

  void emit_read(std::uint32_t position) {
    const KernelInstruction& instruction = at(position);
    if (live_.is_alias[position]) {
      registers_.assign(position, variables_[instruction.imm]);
    } else {
      copy(define(position), variables_[instruction.imm], instruction.lanes);
    }
  }

  void emit_write(std::uint32_t position) {
    const KernelInstruction& instruction = at(position);
    const std::uint32_t dest = variables_[instruction.imm], source = registers_.of(instruction.a);
    const std::uint32_t width = kernel_.variables[instruction.imm];
    if (!uniformity_.divergent[position]) return copy(dest, source, width);
    for (std::uint32_t lane = 0; lane < width; ++lane) add({.op = Op::Blend, .dest = dest + lane, .a = source + lane});
  }

  // --- Accesses ---

  void emit_load(std::uint32_t position, Op each, Op once) {
    const KernelInstruction& instruction = at(position);
    const std::uint32_t index = registers_.of(instruction.a);
    add({.op = varies(position) ? each : once,
         .lanes = instruction.lanes,
         .form = row(index),
         .bounded = instruction.bounded,
         .imm = instruction.imm,
         .dest = define(position),
         .a = index});
  }

  void emit_store(std::uint32_t position, Op each, Op once) {
    const KernelInstruction& instruction = at(position);
    const std::uint32_t index = registers_.of(instruction.a), value = registers_.of(instruction.b);
    add({.op = is_scalar(index) && is_scalar(value) ? once : each,
         .lanes = at(instruction.b).lanes,
         .form = row(index),
         .bounded = instruction.bounded || selected_[position] == Selected::BoundedStore,
         .imm = instruction.imm,
         .a = index,
         .b = value});
  }

  void emit_atomic(std::uint32_t position) {
    const KernelInstruction& instruction = at(position);
    const std::uint32_t a = registers_.of(instruction.a), b = registers_.of(instruction.b), c = registers_.of(instruction.c);
    add({.op = instruction.shared ? Op::AtomicShared : Op::Atomic,
         .bounded = instruction.bounded,
         .atomic = instruction.op,
         .imm = instruction.imm,
         .dest = define(position),
         .a = a,
         .b = b,
         .c = c});
  }

  // --- Control flow ---

  // An If or a Loop that is open at the position.
  struct Block {
    std::uint32_t address;                 // of the instruction that opened it
    bool parts;                            // control flow may diverge in it
    std::uint32_t other = kNoAddress;      // of its Else
    std::vector<std::uint32_t> empties{};  // addresses of instructions that jump to the end of this block when no lane is active
    bool is_loop = false;
    std::vector<std::uint32_t> breaks{};  // addresses of the jumps that leave a loop without divergence
  };
  static constexpr std::uint32_t kNoAddress = std::numeric_limits<std::uint32_t>::max();

  // Notes an instruction that may leave no lane active. If it does, execution continues at the end of the innermost divergent block, whose
  // address lead() fills in later.
  void goes_on_elsewhere(std::uint32_t address) {
    const auto parted = std::find_if(blocks_.rbegin(), blocks_.rend(), [](const Block& block) { return block.parts; });
    (parted == blocks_.rend() ? empties_ : parted->empties).push_back(address);
  }
  void lead(std::vector<std::uint32_t>& addresses, std::uint32_t to) {
    for (const std::uint32_t address : addresses) result_.instructions[address].empty = to;
    addresses.clear();
  }
  void open(std::uint32_t address, bool parts) {
    blocks_.push_back({address, parts});
    depth_ += parts ? 1 : 0;
    result_.depth = std::max(result_.depth, depth_);
  }
  void close() {
    depth_ -= blocks_.back().parts ? 1 : 0;
    blocks_.pop_back();
  }
  void lead_to_here(std::uint32_t address) { result_.instructions[address].target = here(); }

  void emit_if(std::uint32_t condition) {
    const bool parts = !is_scalar(condition);
    open(add({.op = parts ? Op::If : Op::JumpIfZero, .a = condition}), parts);
  }

  void emit_else() {
    Block& block = blocks_.back();
    if (block.parts) lead_to_here(block.address);
    block.other = add({.op = block.parts ? Op::Else : Op::Jump});
    if (block.parts) {
      lead(block.empties, block.other);
    } else {
      lead_to_here(block.address);
    }
  }

  void emit_end_if() {
    Block& block = blocks_.back();
    lead_to_here(block.other == kNoAddress ? block.address : block.other);
    if (!block.parts) return close();
    const std::uint32_t address = add({.op = Op::EndIf});
    lead(block.empties, address);
    close();
    goes_on_elsewhere(address);
  }

  void emit_loop(std::uint32_t position) {
    const KernelInstruction& instruction = at(position);
    const std::uint32_t from = registers_.of(instruction.a);
    std::uint32_t to = registers_.of(instruction.b);
    const bool parts = varies(position);
    if (parts) to = as_vector(to, kernel_.partner[position]);
    open(add({.op = parts ? Op::Loop : Op::UniformLoop, .dest = define(position), .a = from, .b = to}), parts);
    blocks_.back().is_loop = true;
  }

  void emit_break() {
    std::uint32_t inside = 0;  // the divergent blocks between the loop and the Break
    auto loop = blocks_.rbegin();
    for (; !loop->is_loop; ++loop) inside += loop->parts ? 1 : 0;
    if (loop->parts) return goes_on_elsewhere(add({.op = Op::Break, .imm = inside}));
    VYRE_ASSERT(inside == 0);
    loop->breaks.push_back(add({.op = Op::Jump}));
  }

  void emit_end_loop() {
    Block& block = blocks_.back();
    const Instruction start = result_.instructions[block.address];
    const std::uint32_t address =
        add({.op = block.parts ? Op::EndLoop : Op::UniformEndLoop, .dest = start.dest, .b = start.b, .target = block.address + 1});
    lead_to_here(block.address);
    for (const std::uint32_t jump : block.breaks) lead_to_here(jump);
    if (!block.parts) return close();
    lead(block.empties, address);
    close();
    goes_on_elsewhere(address);
  }

  std::vector<Selected> selected_;
  const LiveRanges live_;
  Code result_;
  Registers registers_;
  std::vector<std::uint32_t> variables_;  // by variable: its first register
  std::vector<Row> rows_;                 // by register; the registers beyond its end have Row::No
  std::vector<Block> blocks_;
  std::vector<std::uint32_t> empties_;  // as Block::empties, for instructions outside of every divergent block
  std::uint32_t depth_ = 0;             // the number of open divergent blocks
};

}  // namespace

Code compile(const Kernel& kernel) {
  const Batch batch = needs_whole_workgroups(kernel) ? Batch::Workgroup : Batch::Any;
  return Compiler(kernel, find_uniformity(kernel, batch, Turns::OfLanes)).run();
}

}  // namespace vyre::run::cpu
