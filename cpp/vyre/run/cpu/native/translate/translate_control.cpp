// Translates control flow. Where all lanes take the same way, the code jumps. Where control flow may diverge, the code changes the
// execution mask and jumps over blocks that no lane takes. Outside of divergent blocks, no mask is used as long as all lanes of the group
// are active.
//
// A divergent block saves the execution mask from before it. At its end it restores this mask, without the lanes that have returned or left
// the loop around the block meanwhile. If no lane is left, the code jumps to the Else or the end of the next divergent block around it.
#include <algorithm>
#include <bit>
#include <cstddef>

#include "vyre/run/cpu/native/translate/translator.hpp"

namespace vyre::run::cpu::native {
namespace {

constexpr std::uint64_t kLongWork = std::uint64_t{1} << 21;  // about a millisecond

}  // namespace

Translator::Address Translator::mask_slot(std::uint32_t depth, std::uint32_t which, int part) {
  const auto index = static_cast<std::uint32_t>((static_cast<int>(depth * kMaskKinds + which)) * parts_ + part);
  return frame(masks_ + index * static_cast<std::uint32_t>(a_.vector_bytes()));
}

void Translator::set_active_to_all() {
  for (int part = 0; part < parts_; ++part) a_.mask_all(exec(part));
  masked_ = true;
}

void Translator::mask_rest_of_lanes() {
  a_.mov(a_.rax, a_.qword[a_.r15 + offsetof(Context, lanes)]);
  a_.sub(a_.rax, a_.r13);
  for (int part = 0; part < parts_; ++part) {
    a_.vmovd(Xbyak::Xmm(1), a_.eax);
    a_.broadcast(a_.v(1), Xbyak::Xmm(1));
    a_.load(a_.v(0), a_.count_up());
    const Xmm rest = a_.v(1);
    a_.mask_copy(exec(part), a_.compare(Opcode::SLt, a_.v(0), rest, &rest, mask_scratch(0)));
    if (part + 1 < parts_) a_.sub(a_.eax, a_.width());
  }
}

void Translator::jump_unless_any(Label& label) {
  a_.mask_bits(a_.eax, exec(0));
  for (int part = 1; part < parts_; ++part) {
    a_.mask_bits(a_.ecx, exec(part));
    a_.or_(a_.eax, a_.ecx);
  }
  a_.test(a_.eax, a_.eax);
  a_.jz(label);
}

// Jumps on when no lane is active any more: to the Else or the end of the innermost divergent block, which finds out which lanes go on, or
// to the end of the group.
void Translator::go_on_elsewhere() {
  const auto block = std::find_if(blocks_.rbegin(), blocks_.rend(), [](const Block& each) { return each.parts; });
  if (block == blocks_.rend()) {
    a_.jmp(*end_of_group_);
  } else {
    a_.jmp(block->has_else ? block->end : block->other);
  }
}

void Translator::if_block(std::uint32_t position) {
  if (only_breaks(position)) return break_if(position);
  if (!masked_ && analysis_.guards[position] && kernel_.code.size() <= kLargest) return guarded_block(position);
  begin_if(position);
}

// Translates the If twice: without masks where all lanes take it, which is so for all groups but the last, and with masks on a cold path.
void Translator::guarded_block(std::uint32_t position) {
  auto *const some = new_label(), *const back = new_label();
  const Instruction& condition = at(at(position).a);
  get(a_.eax, analysis_.first_lane[condition.a.index]);
  a_.add(a_.rax, lanes() - 1);
  get(a_.ecx, cell_of(condition.b));
  a_.cmp(a_.rax, a_.rcx);
  a_.jae(*some, Xbyak::CodeGenerator::T_NEAR);
  Block& block = blocks_.emplace_back();
  block.position = position;
  block.of_workgroup = analysis_.of_workgroup[position];
  block.back = back;
  a_.later([=, this] {
    a_.L(*some);
    masked_ = false;
    begin_if(position);
    for (std::uint32_t each = position + 1; each <= kernel_.partner[position]; ++each) instruction(each);
    position_ = static_cast<std::uint32_t>(kernel_.code.size());
    a_.jmp(*back);
  });
}

void Translator::begin_if(std::uint32_t position) {
  const Instruction& i = at(position);
  Block& block = blocks_.emplace_back();
  block.position = position;
  block.parts = varies(i.a);
  block.of_workgroup = analysis_.of_workgroup[position];
  if (!block.parts) {
    if (analysis_.has_exit(position) && !masked_) set_active_to_all();
    block.was_masked = masked_;
    get(a_.eax, cell_of(i.a));
    a_.test(a_.eax, a_.eax);
    a_.jz(block.other);
    return;
  }
  block.was_masked = masked_;
  block.depth = depth_++;
  const bool has_else = at(kernel_.partner[position]).op == Opcode::Else;
  for (int part = 0; part < parts_; ++part) {
    const Mask mask = condition(i.a, part, 0);
    if (masked_) {
      a_.mask_store(mask_slot(block.depth, kBefore, part), exec(part));
      a_.mask_and(exec(part), exec(part), mask);
    } else {
      a_.mask_copy(exec(part), mask);
    }
    if (has_else) a_.mask_store(mask_slot(block.depth, kTaken, part), exec(part));
  }
  masked_ = true;
  jump_unless_any(block.other);
}

// Whether the If at the position is `if (condition) break;`, directly in a Loop that lanes leave one by one.
bool Translator::only_breaks(std::uint32_t position) const {
  if (!varies(at(position).a) || at(position + 1).op != Opcode::Break || at(position + 2).op != Opcode::EndIf) return false;
  return !blocks_.empty() && blocks_.back().parts && at(blocks_.back().position).op == Opcode::Loop;
}

// Removes the lanes that leave the Loop from the execution mask. No saved mask has to change, because the Loop is the innermost open block:
// blocks that save a mask and restore it are opened later, and save the mask without these lanes.
void Translator::break_if(std::uint32_t position) {
  Label& end = blocks_.back().end;
  for (int part = 0; part < parts_; ++part) {
    const Mask leaves = condition(at(position).a, part, 0);
    a_.mask_and(exec(part), exec(part), {leaves.reg, !leaves.inverted});
  }
  jump_unless_any(end);
  Block& block = blocks_.emplace_back();
  block.position = position;
  block.only_breaks = true;
}

void Translator::else_block(std::uint32_t) {
  Block& block = blocks_.back();
  block.has_else = true;
  if (!block.parts) {
    a_.jmp(block.end);
    a_.L(block.other);
    masked_ = block.was_masked;
    return;
  }
  a_.L(block.other);
  for (int part = 0; part < parts_; ++part) {
    if (block.was_masked) {
      a_.mask_load(exec(part), mask_slot(block.depth, kBefore, part));
    } else {
      a_.mask_all(exec(part));
    }
    const int taken = mask_scratch(0);
    a_.mask_load(taken, mask_slot(block.depth, kTaken, part));
    a_.mask_without(exec(part), exec(part), taken);
  }
  masked_ = true;
  jump_unless_any(block.end);
}

void Translator::end_if(std::uint32_t) {
  Block& block = blocks_.back();
  if (block.only_breaks) return blocks_.pop_back();
  if (!block.has_else) a_.L(block.other);
  a_.L(block.end);
  if (block.back != nullptr) a_.L(*block.back);
  if (!block.parts) {
    masked_ = block.was_masked;
    blocks_.pop_back();
    return;
  }
  restore_lanes(block);
}

// Ends the innermost block, which is divergent: activates the lanes that were active before it, without those that have left meanwhile.
void Translator::restore_lanes(const Block& block) {
  const bool exits = analysis_.has_exit(block.position), was_masked = block.was_masked;
  const std::uint32_t depth = block.depth;
  --depth_;
  blocks_.pop_back();
  const auto loop =
      std::find_if(blocks_.rbegin(), blocks_.rend(), [&](const Block& each) { return each.parts && at(each.position).op == Opcode::Loop; });
  const bool breaks = exits && loop != blocks_.rend() && analysis_.has_exit(loop->position);
  const bool fewer = exits && (analysis_.returns || breaks);
  for (int part = 0; part < parts_; ++part) {
    if (was_masked) {
      a_.mask_load(exec(part), mask_slot(depth, kBefore, part));
    } else if (fewer) {
      a_.mask_all(exec(part));
    }
    const int gone = mask_scratch(0);
    if (exits && analysis_.returns) {
      a_.mask_load(gone, frame(returned_ + static_cast<std::uint32_t>(part * a_.vector_bytes())));
      a_.mask_without(exec(part), exec(part), gone);
    }
    if (breaks) {
      a_.mask_load(gone, mask_slot(loop->depth, kBroken, part));
      a_.mask_without(exec(part), exec(part), gone);
    }
  }
  masked_ = was_masked || fewer;
  if (!fewer) return;
  Label some;
  a_.mask_bits(a_.eax, exec(0));
  for (int part = 1; part < parts_; ++part) {
    a_.mask_bits(a_.ecx, exec(part));
    a_.or_(a_.eax, a_.ecx);
  }
  a_.test(a_.eax, a_.eax);
  a_.jnz(some);
  go_on_elsewhere();
  a_.L(some);
}

void Translator::loop(std::uint32_t position) {
  const Instruction& i = at(position);
  const CellId variable = cell_of_result(position, 0);
  Block& block = blocks_.emplace_back();
  block.position = position;
  block.parts = uniformity_.parts_loop(position);
  block.of_workgroup = analysis_.of_workgroup[position];
  if (block.parts && !varies(position)) return loop_with_breaks(position);
  if (!block.parts) {
    if (analysis_.has_exit(position) && !masked_) set_active_to_all();
    block.was_masked = masked_;
    get(a_.eax, cell_of(i.a));
    get(a_.ecx, cell_of(i.b));
    put(variable, a_.eax);
    a_.cmp(a_.eax, a_.ecx);
    a_.jae(block.end);
    a_.L(block.top);
    return;
  }
  block.was_masked = masked_;
  block.depth = depth_++;
  for (int part = 0; part < parts_; ++part) {
    copy(variable, cell_of(i.a), part, false);
    const Xmm from = in(variable, part, 0), to = in(cell_of(i.b), part, 1);
    const Mask below = a_.compare(Opcode::Lt, from, to, &to, mask_scratch(0));
    if (masked_) {
      a_.mask_store(mask_slot(block.depth, kBefore, part), exec(part));
      a_.mask_and(exec(part), exec(part), below);
    } else {
      a_.mask_copy(exec(part), below);
    }
    if (!analysis_.has_exit(position)) continue;
    a_.mask_none(mask_scratch(0));
    a_.mask_store(mask_slot(block.depth, kBroken, part), mask_scratch(0));
  }
  masked_ = true;
  jump_unless_any(block.end);
  a_.L(block.top);
}

// Begins a loop whose variable is the same in all lanes, and which the lanes may leave one by one, by a Break.
void Translator::loop_with_breaks(std::uint32_t position) {
  const Instruction& i = at(position);
  Block& block = blocks_.back();
  block.was_masked = masked_;
  block.depth = depth_++;
  if (!masked_) set_active_to_all();
  for (int part = 0; part < parts_; ++part) {
    if (block.was_masked) a_.mask_store(mask_slot(block.depth, kBefore, part), exec(part));
    a_.mask_none(mask_scratch(0));
    a_.mask_store(mask_slot(block.depth, kBroken, part), mask_scratch(0));
  }
  get(a_.eax, cell_of(i.a));
  get(a_.ecx, cell_of(i.b));
  put(cell_of_result(position, 0), a_.eax);
  a_.cmp(a_.eax, a_.ecx);
  a_.jae(block.end);
  a_.L(block.top);
}

// Counts the variable of a loop up and jumps to the loop's top while it is below its bound. The variable is the same in all lanes.
void Translator::next_turn(Block& block) {
  const CellId variable = cell_of_result(block.position, 0);
  const Reg32 turn = word_target(variable, a_.eax);
  get(turn, variable);
  a_.inc(turn);
  put(variable, turn);
  const CellId bound = cell_of(at(block.position).b);
  if (cell(bound).constant) {
    a_.cmp(turn, at(cell(bound).value).imm);
  } else {
    get(a_.ecx, bound);
    a_.cmp(turn, a_.ecx);
  }
  a_.jb(block.top);
  a_.L(block.end);
}

void Translator::end_loop(std::uint32_t position) {
  Block& block = blocks_.back();
  const Instruction& i = at(block.position);
  const CellId variable = cell_of_result(block.position, 0);
  if (!block.parts) {
    masked_ = block.was_masked;
    poll(block.position, position);
    next_turn(block);
    blocks_.pop_back();
    return;
  }
  a_.L(block.other);
  poll(block.position, position);
  if (!varies(block.position)) {
    jump_unless_any(block.end);
    next_turn(block);
    return restore_lanes(block);
  }
  // A lane whose variable wraps around was at its bound before, and is not active any more.
  for (int part = 0; part < parts_; ++part) {
    const Xmm now = in(variable, part, 0), next = target(variable, part, 0);
    a_.vpaddd(next, now, a_.constant(1));
    out(variable, part, next);
    const Xmm to = in(cell_of(i.b), part, 1);
    a_.mask_and(exec(part), exec(part), a_.compare(Opcode::Lt, next, to, &to, mask_scratch(0)));
  }
  jump_unless_any(block.end);
  a_.jmp(block.top);
  a_.L(block.end);
  restore_lanes(block);
}

void Translator::return_lanes(std::uint32_t position) {
  if (analysis_.of_workgroup[position]) return a_.jmp(leave_);
  const bool parted = std::ranges::any_of(blocks_, &Block::parts);
  if (parted) {
    for (int part = 0; part < parts_; ++part) {
      a_.mask_or_to_memory(frame(returned_ + static_cast<std::uint32_t>(part * a_.vector_bytes())), exec(part), mask_scratch(0));
      a_.mask_none(exec(part));
    }
  }
  go_on_elsewhere();
}

void Translator::break_lanes(std::uint32_t) {
  if (blocks_.back().only_breaks) return;
  auto loop = blocks_.rbegin();
  bool parted = false;
  for (;; ++loop) {
    parted = parted || loop->parts;
    if (at(loop->position).op == Opcode::Loop) break;
  }
  if (!parted) return a_.jmp(loop->end);
  for (int part = 0; part < parts_; ++part) {
    a_.mask_or_to_memory(mask_slot(loop->depth, kBroken, part), exec(part), mask_scratch(0));
    a_.mask_none(exec(part));
  }
  go_on_elsewhere();
}

// How many turns of a loop are counted at a time: a power of two, not more than the loop has if that is known, and one turn if it is long.
std::uint32_t Translator::turns_between_counts(std::uint32_t loop, std::uint64_t work) const {
  constexpr std::uint32_t kMost = 16;
  const Instruction &from = at(at(loop).a), &to = at(at(loop).b);
  if (work * kMost >= kLongWork || varies(loop) || from.op != Opcode::Constant || from.imm % kMost != 0) return 1;
  if (to.op != Opcode::Constant || to.imm <= from.imm) return kMost;
  return std::min(kMost, std::bit_floor(to.imm - from.imm));
}

// Counts the work of the turns of a loop, and calls Context::poll after about a millisecond of work. Where all lanes count the turns
// together, from a multiple of 16 on, some are counted at a time, ahead: the counter in memory would be what a short loop waits for.
void Translator::poll(std::uint32_t from, std::uint32_t to) {
  auto *const due = new_label(), *const back = new_label();
  const std::uint64_t work = std::uint64_t{to - from} * static_cast<std::uint64_t>(lanes());
  const std::uint32_t turns = turns_between_counts(from, work);
  if (turns != 1) {
    const CellId variable = cell_of_result(from, 0);
    in_register(variable) ? a_.test(Reg32(homes_.of[variable].reg), turns - 1) : a_.test(word_slot(variable), turns - 1);
    a_.jnz(*back);
  }
  a_.sub(a_.qword[a_.r15 + offsetof(Context, left)], static_cast<std::uint32_t>(std::min(work * turns, kLongWork)));
  a_.js(*due);
  a_.L(*back);
  a_.later([=, this] {
    a_.L(*due);
    a_.call(poll_);
    a_.jmp(*back);
  });
}

}  // namespace vyre::run::cpu::native
