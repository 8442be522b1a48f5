// Translates the structure of the code: its entry and exit, the loops over groups of lanes, the accesses to cells, and the call that asks
// from time to time whether to go on.
#include "vyre/run/cpu/native/translate/translator.hpp"

#include <algorithm>
#include <utility>

#include "vyre/base/assert.hpp"

namespace vyre::run::cpu::native {
namespace {

bool shifts_or_rotates(lower::Opcode op) {
  using enum lower::Opcode;
  return op == Shl || op == Shr || op == SShr || op == RotateLeft || op == RotateRight;
}

constexpr std::uint32_t round_up(std::uint32_t value, std::uint32_t to) { return (value + to - 1) / to * to; }

// The callee-saved general registers: the code restores their values before it returns.
constexpr int kSavedGenerals[] = {3 /* rbx */, 5 /* rbp */, 12, 13, 14, 15};

}  // namespace

Translator::Translator(const lower::Kernel& kernel, const Analysis& analysis, Vectors vectors)
    : KernelReader(kernel, analysis.uniformity), analysis_(analysis), a_(vectors) {
  const auto& size = kernel.workgroup_size;
  workgroup_lanes_ = size[0] * size[1] * size[2];
  choose_parts();
  lay_out();
}

bool Translator::often_shifts_by_lanes() const {
  std::uint32_t shifts = 0, all = 0;
  for (std::uint32_t position = 0; position < size_; ++position) {
    const Instruction& i = at(position);
    if (!lower::is_lanewise(i.op) || !varies(position) || !analysis_.is_selected(position)) continue;
    ++all;
    if (shifts_or_rotates(i.op) && varies(i.b)) ++shifts;
  }
  return shifts != 0 && 10 * shifts >= all;
}

// Chooses how many vectors a group has. More vectors hide the latency of operations, as long as all of their values fit into registers.
void Translator::choose_parts() {
  if (kernel_.code.size() > kLargest) return;
  // Four vectors of SSE4.1 are one line of the cache, so that they read line by line all the same.
  if (analysis_.waits_for_memory && !a_.narrow()) return;
  // Where lanes take different numbers of turns, all parts wait for the last lane: little is lost where a turn is arithmetic alone, more
  // where it goes through the lanes one by one.
  const int most = analysis_.accesses_in_parted_loop ? 2 : 4;
  const auto needed = static_cast<int>(pressure(analysis_));
  for (const int parts : {2, 4}) {
    const int available = a_.vector_count() - (a_.wide() ? 5 : 4 + parts);
    // A gather that waits for another one takes as long as dozens of other operations. With SSE4.1, a shift by amounts of the lanes is up
    // to 18 instructions, most of which wait for the one before. Two vectors at a time are worth a spill of some values.
    const bool waits = analysis_.chains_gathers || (a_.narrow() && often_shifts_by_lanes());
    // One vector more than fits is worth it, too, with SSE4.1, which has the fewest lanes to work on at a time.
    const int spilled = a_.narrow() && parts == 2 ? 1 : 0;
    const bool fits = waits && parts == 2 ? needed <= available : needed * parts <= available + spilled;
    const bool fills = !analysis_.whole_workgroups || workgroup_lanes_ % static_cast<std::uint32_t>(parts * a_.width()) == 0;
    if (fits && fills && parts <= most) parts_ = parts;
  }
}

void Translator::lay_out() {
  RegisterFile file{.vectors = (a_.vector_count() - first_vector()) / parts_, .generals = {}};
  file.generals = {Operand::R10, Operand::R9, Operand::R8, Operand::RDI, Operand::RSI, Operand::RBP, Operand::RBX};
  if (!analysis_.whole_workgroups) file.generals.push_back(Operand::R12);
  const auto group_bytes = static_cast<std::uint32_t>(parts_ * a_.vector_bytes());
  crossing_bytes_ = 4 * round_up(workgroup_lanes_, static_cast<std::uint32_t>(lanes()));
  homes_ = assign_homes(analysis_, file, group_bytes, crossing_bytes_);

  std::uint32_t depth = 0, deepest = 0;
  for (const Instruction& i : kernel_.code) {
    if (i.op == Opcode::If || i.op == Opcode::Loop) deepest = std::max(deepest, ++depth);
    if (i.op == Opcode::EndIf || i.op == Opcode::EndLoop) --depth;
  }
  std::uint32_t bytes = round_up(homes_.frame_bytes, 64);
  const auto take = [&](std::uint32_t count) { return std::exchange(bytes, round_up(bytes + count, 64)); };
  masks_ = take(kMaskKinds * (deepest + 1) * group_bytes);
  returned_ = take(group_bytes);
  scratch_memory_ = take(6 * 64);
  control_ = take(64);
  entries_ = take(4 * static_cast<std::uint32_t>(analysis_.cells.empty() ? 0 : kernel_.variables.size() * 4));
  if (!analysis_.whole_workgroups)
    privates_ = take(static_cast<std::uint32_t>(kernel_.private_bytes()) * static_cast<std::uint32_t>(lanes()));
  layout_.frame = bytes;
  layout_.crossing = std::size_t{homes_.crossing_cells} * crossing_bytes_;
  layout_.privates =
      analysis_.whole_workgroups ? kernel_.private_bytes() * round_up(workgroup_lanes_, static_cast<std::uint32_t>(lanes())) : 0;
}

std::vector<std::byte> Translator::run() {
  a_.mark(Part::Entry);
  prologue();
  walk();
  a_.mark(Part::Leave);
  a_.L(leave_);
  epilogue();
  a_.write_later();
  a_.mark(Part::Poll);
  write_poll();
  a_.write_constants();
  a_.ready(Xbyak::CodeArray::PROTECT_RW);
  const auto* code = reinterpret_cast<const std::byte*>(a_.getCode());
  return {code, code + a_.getSize()};
}

void Translator::prologue() {
  for (const int reg : kSavedGenerals) a_.push(Reg64(reg));
  // Divisions need the default floating-point state (MXCSR). The epilogue restores the caller's state.
  if (analysis_.divides) {
    a_.sub(a_.rsp, 16);
    a_.stmxcsr(a_.dword[a_.rsp]);
    a_.mov(a_.dword[a_.rsp + 4], 0x1F80);
    a_.ldmxcsr(a_.dword[a_.rsp + 4]);
  }
  a_.mov(a_.r15, a_.rdi);
  a_.mov(a_.r14, a_.qword[a_.r15 + offsetof(Context, frame)]);
}

void Translator::epilogue() {
  if (analysis_.divides) {
    a_.ldmxcsr(a_.dword[a_.rsp]);
    a_.add(a_.rsp, 16);
  }
  a_.vzeroupper();
  for (int k = std::size(kSavedGenerals); k-- > 0;) a_.pop(Reg64(kSavedGenerals[k]));
  a_.ret();
}

// Writes the subroutine that calls Context::poll. The code calls it while all registers are in use, so it saves and restores all of them.
void Translator::write_poll() {
  a_.L(poll_);
  constexpr int kKept[] = {0, 1, 2, 6, 7, 8, 9, 10, 11};  // general registers that a call may change
  a_.mov(a_.qword[a_.r14 + control_ + 16], a_.rax);
  a_.mov(a_.rax, a_.qword[a_.r15 + offsetof(Context, saved)]);
  std::uint32_t offset = 0;
  for (int reg = 0; reg < a_.vector_count(); ++reg, offset += 64) a_.store(a_.ptr[a_.rax + offset], a_.v(reg));
  if (a_.wide()) {
    for (int reg = 1; reg < 8; ++reg, offset += 8) a_.kmovw(a_.ptr[a_.rax + offset], Xbyak::Opmask(reg));
  }
  for (const int reg : kKept) {
    if (reg != 0) a_.mov(a_.qword[a_.rax + offset], Reg64(reg));
    offset += 8;
  }
  a_.mov(a_.rdi, a_.r15);
  // Aligns the stack pointer as calls require, and keeps the old one.
  a_.mov(a_.qword[a_.r14 + control_ + 24], a_.rsp);
  a_.and_(a_.rsp, -16);
  a_.vzeroupper();
  a_.call(a_.qword[a_.r15 + offsetof(Context, poll)]);
  a_.mov(a_.rsp, a_.qword[a_.r14 + control_ + 24]);
  a_.mov(a_.dword[a_.r14 + control_ + 32], a_.eax);
  a_.mov(a_.rax, a_.qword[a_.r15 + offsetof(Context, saved)]);
  for (const int reg : {11, 10, 9, 8, 7, 6, 2, 1, 0}) {
    offset -= 8;
    if (reg != 0) a_.mov(Reg64(reg), a_.qword[a_.rax + offset]);
  }
  if (a_.wide()) {
    for (int reg = 7; reg >= 1; --reg) a_.kmovw(Xbyak::Opmask(reg), a_.ptr[a_.rax + (offset -= 8)]);
  }
  for (int reg = a_.vector_count(); reg-- > 0;) a_.load(a_.v(reg), a_.ptr[a_.rax + (offset -= 64)]);
  Label go_on;
  a_.cmp(a_.byte[a_.r14 + control_ + 32], 0);
  a_.je(go_on);
  a_.mov(a_.dword[a_.r15 + offsetof(Context, stopped)], 1);
  a_.add(a_.rsp, 8);  // drops the return address of the subroutine
  a_.jmp(leave_);
  a_.L(go_on);
  a_.mov(a_.rax, a_.qword[a_.r14 + control_ + 16]);
  a_.ret();
}

// --- The loops over lanes ---

void Translator::walk() {
  std::size_t next = 0;
  for (std::uint32_t position = 0; position < kernel_.code.size();) {
    if (next < analysis_.regions.size() && analysis_.regions[next].begin == position) {
      region(analysis_.regions[next]);
      position = analysis_.regions[next++].end;
    } else {
      masked_ = false;
      instruction(position++);
    }
  }
  position_ = static_cast<std::uint32_t>(kernel_.code.size());
}

void Translator::region(const Region& region) {
  // A uniform variable that is live across regions must have the same word for every group when the region starts. If the region writes
  // such a variable, its word is saved first, and restored before each group.
  std::vector<CellId> carried;
  if (analysis_.whole_workgroups) {
    for (std::uint32_t position = region.begin; position < region.end; ++position) {
      if (at(position).op != Opcode::WriteVariable) continue;
      for (const CellId id : analysis_.of_variable[at(position).imm]) {
        if (id != kNone && !cell(id).varying && cell(id).crosses && std::ranges::count(carried, id) == 0) carried.push_back(id);
      }
    }
  }
  for (std::uint32_t k = 0; k < carried.size(); ++k) {
    a_.mov(a_.eax, word_slot(carried[k]));
    a_.mov(a_.dword[a_.r14 + entries_ + std::size_t{4} * k], a_.eax);
  }
  const auto turn = [&](bool masked) {
    for (std::uint32_t k = 0; k < carried.size(); ++k) {
      a_.mov(a_.eax, a_.dword[a_.r14 + entries_ + std::size_t{4} * k]);
      a_.mov(word_slot(carried[k]), a_.eax);
    }
    if (analysis_.whole_workgroups) {
      a_.mov(a_.r12, a_.qword[a_.r15 + offsetof(Context, crossing)]);
      a_.lea(a_.r12, a_.ptr[a_.r12 + a_.r13 * 4]);
    }
    body(region, masked);
  };

  Label full, rest, done;
  const bool whole_vectors = analysis_.whole_workgroups && workgroup_lanes_ % static_cast<std::uint32_t>(lanes()) == 0;
  // The code of a long kernel is written once: one loop runs all groups under masks.
  const bool once = !whole_vectors && kernel_.code.size() > kLargest;
  a_.mark(once ? Part::Rest : Part::Full);
  a_.xor_(a_.r13d, a_.r13d);
  if (!once) {
    a_.L(full);
    a_.lea(a_.rax, a_.ptr[a_.r13 + lanes()]);
    a_.cmp(a_.rax, a_.qword[a_.r15 + offsetof(Context, lanes)]);
    a_.ja(rest);
    turn(false);
    a_.add(a_.r13, lanes());
    a_.jmp(full);
  }
  if (!whole_vectors && !once) a_.mark(Part::Rest);
  a_.L(rest);
  if (!whole_vectors) {
    a_.cmp(a_.r13, a_.qword[a_.r15 + offsetof(Context, lanes)]);
    a_.jae(done);
    turn(true);
    if (once) {
      a_.add(a_.r13, lanes());
      a_.jmp(rest);
    }
  }
  a_.L(done);
}

void Translator::body(const Region& region, bool masked) {
  Label end;
  end_of_group_ = &end;
  masked_ = masked;
  if (masked) mask_rest_of_lanes();
  if (analysis_.returns) {
    a_.zero(a_.v(0));
    for (int part = 0; part < parts_; ++part) a_.store(frame(returned_ + static_cast<std::uint32_t>(part * a_.vector_bytes())), a_.v(0));
  }
  if (!analysis_.whole_workgroups && !kernel_.privates.empty()) clear_privates();
  for (std::uint32_t position = region.begin; position < region.end; ++position) instruction(position);
  a_.mark(Part::Next);
  a_.L(end);
  end_of_group_ = nullptr;
}

void Translator::instruction(std::uint32_t position) {
  const Instruction& i = at(position);
  a_.mark(Part::Instruction, position);
  position_ = position;
  if (!analysis_.is_selected(position)) return;
  if (const CellId first = analysis_.first_lane[position]; first != kNone) {
    if (is_needed(first)) first_lane(position);
    if (!is_needed(analysis_.of_value[position][0])) return;
    for (int part = 0; part < parts_; ++part) vector_of_line(position, part);
    return;
  }
  if (lower::is_lanewise(i.op) || i.op == Opcode::Select) {
    const CellId id = analysis_.of_value[position][0];
    if (!varies(position)) return i.op == Opcode::Select ? scalar_select(position) : scalar_lanewise(position);
    if (i.op != Opcode::Select && (cell(id).form == Form::Folded || !is_needed(id))) return;
    for (int part = 0; part < parts_; ++part) i.op == Opcode::Select ? vector_select(position, part) : vector_lanewise(position, part);
    return;
  }
  if (lower::is_atomic(i.op)) return atomic(position);
  switch (i.op) {
    case Opcode::WideDiv:
    case Opcode::WideMod:
      return wide_divide(position);
    case Opcode::Constant:
    case Opcode::Lane:
    case Opcode::Pack:
      return;  // no code: their users read the cells of constants and operands
    case Opcode::Length:
    case Opcode::WorkgroupId:
    case Opcode::LocalId:
    case Opcode::InvocationId:
      if (!varies(position)) return scalar_id(position);
      for (int part = 0; part < parts_; ++part) vector_id(position, part);
      return;
    case Opcode::ReadVariable:
      return read_variable(position);
    case Opcode::WriteVariable:
      return write_variable(position);
    case Opcode::LoadBuffer:
    case Opcode::LoadShared:
      return load(position);
    case Opcode::StoreBuffer:
    case Opcode::StoreShared:
      return store(position);
    case Opcode::LoadPrivate:
      return load_private(position);
    case Opcode::StorePrivate:
      return store_private(position);
    case Opcode::If:
      return if_block(position);
    case Opcode::Else:
      return else_block(position);
    case Opcode::EndIf:
      return end_if(position);
    case Opcode::Loop:
      return loop(position);
    case Opcode::EndLoop:
      return end_loop(position);
    case Opcode::Barrier:
      return;  // the region has ended
    case Opcode::Return:
      return return_lanes(position);
    case Opcode::Break:
      return break_lanes(position);
    default:
      VYRE_ASSERT(!"an opcode of the cpu target");
  }
}

// --- Cells ---

Translator::Address Translator::frame(std::uint32_t offset) { return a_.ptr[a_.r14 + offset]; }

Translator::Address Translator::slot(CellId id, int part) {
  const int offset = homes_.of[id].slot + part * a_.vector_bytes();
  return cell(id).crosses ? a_.ptr[a_.r12 + offset] : a_.ptr[a_.r14 + offset];
}
Translator::Address Translator::word_slot(CellId id) {
  return cell(id).crosses && cell(id).of_group ? a_.dword[a_.r12 + homes_.of[id].slot] : a_.dword[a_.r14 + homes_.of[id].slot];
}

bool Translator::is_needed(CellId id) const { return homes_.of[id].reg >= 0 || homes_.of[id].slot >= 0; }

// Whether a register holds the cell where the current instruction reads it. Its slot, if it has one as well, holds it everywhere.
bool Translator::in_register(CellId id) const {
  return homes_.of[id].reg >= 0 && (!cell(id).crosses || 2 * position_ <= cell(id).near_end);
}

Translator::Xmm Translator::in(CellId id, int part, int scratch) {
  const Source found = source(id, part, scratch);
  if (!found.in_memory) return found.reg;
  a_.load(a_.v(scratch), found.memory);
  return a_.v(scratch);
}

Translator::Source Translator::source(CellId id, int part, int scratch) {
  const Cell& wanted = cell(id);
  if (wanted.constant) return {true, Xmm(), a_.constant(at(wanted.value).imm)};
  if (!wanted.varying) {
    a_.broadcast(a_.v(scratch), word_slot(id));
    return {false, a_.v(scratch), a_.ptr[a_.rax]};
  }
  if (in_register(id)) return {false, a_.v(first_vector() + homes_.of[id].reg * parts_ + part), a_.ptr[a_.rax]};
  return {true, Xmm(), slot(id, part)};
}

Translator::Xmm Translator::target(CellId id, int part, int scratch) const {
  const Home& home = homes_.of[id];
  return a_.v(home.reg >= 0 ? first_vector() + home.reg * parts_ + part : scratch);
}

void Translator::out(CellId id, int part, const Xmm& value) {
  const Home& home = homes_.of[id];
  if (home.reg >= 0) a_.move(target(id, part, 0), value);
  if (home.slot >= 0) a_.store(slot(id, part), value);
}

void Translator::get(const Reg32& to, CellId id) {
  const Cell& wanted = cell(id);
  if (wanted.constant) {
    a_.mov(to, at(wanted.value).imm);
  } else if (in_register(id)) {
    if (to.getIdx() != homes_.of[id].reg) a_.mov(to, Reg32(homes_.of[id].reg));
  } else {
    a_.mov(to, word_slot(id));
  }
}

Translator::Reg32 Translator::word_target(CellId id, const Reg32& scratch) const {
  return homes_.of[id].reg >= 0 ? Reg32(homes_.of[id].reg) : scratch;
}

void Translator::put(CellId id, const Reg32& from) {
  const Home& home = homes_.of[id];
  if (home.reg >= 0 && home.reg != from.getIdx()) a_.mov(Reg32(home.reg), from);
  if (home.slot >= 0) a_.mov(word_slot(id), from);
}

}  // namespace vyre::run::cpu::native
