// Structured control flow: each If and Loop declares its merge block, and a Loop its continue target. A Break branches to the merge block
// of its Loop. A Return in a Loop branches there too, and the merge block returns: NVIDIA's compiler (driver 580) crashes on some programs
// that return from within a loop. A Loop with branched exits (branched_exits.hpp) is left at its head alone: a Break sets a flag and goes
// on with the next turn, which the flag ends. A block that a Return or a Break has ended gets no further branch, and a merge block that no
// block branches to is unreachable.
#include <algorithm>

#include "vyre/emit/spirv/emitter.hpp"

namespace vyre::spirv {

void Emitter::begin_if(std::uint32_t at) {
  const bool has_else = kernel_.code[kernel_.partner[at]].op == Opcode::Else;
  const Word then = module_.fresh();
  Region region{.merge = module_.fresh(), .merge_reached = !has_else};
  if (has_else) region.otherwise = module_.fresh();
  put(spv::OpSelectionMerge, {region.merge, spv::SelectionControlMaskNone});
  put(spv::OpBranchConditional, {truth(kernel_.code[at].a), then, has_else ? region.otherwise : region.merge});
  regions_.push_back(region);
  label(then);
}

void Emitter::begin_else() {
  Region& region = regions_.back();
  region.merge_reached |= live_;
  branch(region.merge);
  label(region.otherwise);
}

void Emitter::end_if() {
  Region& region = regions_.back();
  region.merge_reached |= live_;
  branch(region.merge);
  label(region.merge);
  if (!region.merge_reached) {
    put(spv::OpUnreachable, {});
    live_ = false;
  }
  regions_.pop_back();
}

void Emitter::begin_loop(std::uint32_t at) {
  const Instruction& code = kernel_.code[at];
  Region region{.merge = module_.fresh(), .merge_reached = true};
  region.header = module_.fresh();
  region.next = module_.fresh();
  region.turn = module_.fresh();
  region.next_turn = module_.fresh();
  Word first = 0;  // of the loop variable; 0 where that is the count itself
  region.end = bits(code.b);
  if (kernel_.code[code.a.index].op != Opcode::Constant) {
    // Turns are counted from 0: where one invocation's upper bound wraps around, an NVIDIA compiler (580.159.04) takes a turn from the
    // others when it computes their number from `to - from`.
    first = bits(code.a);
    const Word some = result(spv::OpULessThan, boolean(), {first, region.end});
    const Word turns = result(spv::OpISub, uint(), {region.end, first});
    region.end = result(spv::OpSelect, uint(), {some, turns, constant(0)});
  }
  if (!closed_loops_.empty() && closed_loops_[at]) {
    const auto& size = kernel_.workgroup_size;
    const Word index = result(spv::OpLoad, uint(), {local_index_});
    Word used = result(spv::OpULessThan, boolean(), {index, constant(size[0] * size[1] * size[2])});
    if (size[1] * size[2] > 1) {
      const Word above = result(spv::OpIMul, uint(), {local_id(2), constant(size[1])});
      const Word rows = result(spv::OpIAdd, uint(), {local_id(1), above});
      const Word begin = result(spv::OpIMul, uint(), {rows, constant(size[0])});
      const Word x = result(spv::OpISub, uint(), {index, begin});
      const Word in_row = result(spv::OpULessThan, boolean(), {x, constant(size[0])});
      used = result(spv::OpLogicalAnd, boolean(), {used, in_row});
    }
    region.end = result(spv::OpSelect, uint(), {used, region.end, constant(0)});
  }
  const auto exits = branched_exits_.empty() ? emit::BranchedExits::None : branched_exits_[at];
  region.leaves_at_head = exits == emit::BranchedExits::OfTurns;
  if (region.leaves_at_head || (options_.check_loops && (emit::has(opcodes_, Opcode::Return) || has_break(at)))) {
    region.left = module_.variable(Section::FunctionVariables, spv::StorageClassFunction, uint());
    put(spv::OpStore, {region.left, constant(0)});
  }
  const Word before = block_, body = module_.fresh();
  branch(region.header);
  label(region.header);
  put(spv::OpPhi, {uint(), region.turn, first == 0 ? bits(code.a) : constant(0), before, region.next_turn, region.next});
  Word more = result(spv::OpULessThan, boolean(), {region.turn, region.end});
  if (region.leaves_at_head) more = result(spv::OpLogicalAnd, boolean(), {more, stayed(region)});
  const auto hint = exits == emit::BranchedExits::None ? spv::LoopControlMaskNone : spv::LoopControlDontUnrollMask;
  put(spv::OpLoopMerge, {region.merge, region.next, static_cast<Word>(hint)});
  put(spv::OpBranchConditional, {more, body, region.merge});
  label(body);
  define(at, first == 0 ? region.turn : result(spv::OpIAdd, uint(), {first, region.turn}));
  regions_.push_back(region);
}

// Whether the invocation has not left the loop.
Word Emitter::stayed(const Region& region) {
  return result(spv::OpIEqual, boolean(), {result(spv::OpLoad, uint(), {region.left}), constant(0)});
}

// Whether a Break leaves this loop, and not one inside it.
bool Emitter::has_break(std::uint32_t loop) const {
  for (std::uint32_t at = loop + 1; at < kernel_.partner[loop]; ++at) {
    if (kernel_.code[at].op == Opcode::Break) return true;
    if (kernel_.code[at].op == Opcode::Loop) at = kernel_.partner[at];
  }
  return false;
}

bool Emitter::leave_loop(bool returns) {
  const auto loop = std::find_if(regions_.rbegin(), regions_.rend(), [](const Region& region) { return region.header != 0; });
  if (loop == regions_.rend()) return false;
  if (loop->left != 0) put(spv::OpStore, {loop->left, constant(1)});
  if (returns) {
    if (returned_ == 0) returned_ = module_.variable(Section::FunctionVariables, spv::StorageClassFunction, uint(), constant(0));
    put(spv::OpStore, {returned_, constant(1)});
    loop->returns = true;
  }
  branch(loop->leaves_at_head ? loop->next : loop->merge);
  return true;
}

void Emitter::leave() {
  if (leave_loop(true)) return;
  put(spv::OpReturn, {});
  live_ = false;
}

void Emitter::end_loop() {
  const Region region = regions_.back();
  regions_.pop_back();
  branch(region.next);
  label(region.next);
  // The count is below the end here, so it does not wrap around.
  put(spv::OpIAdd, {uint(), region.next_turn, region.turn, constant(1)});
  branch(region.header);
  label(region.merge);
  if (region.returns) {
    const Word then = module_.fresh(), merge = module_.fresh();
    const Word gone = result(spv::OpINotEqual, boolean(), {result(spv::OpLoad, uint(), {returned_}), constant(0)});
    put(spv::OpSelectionMerge, {merge, spv::SelectionControlMaskNone});
    put(spv::OpBranchConditional, {gone, then, merge});
    label(then);
    leave();
    label(merge);
  }
  if (options_.check_loops) {
    // This is never true, unless the driver ended the loop early.
    const Word cut = module_.fresh(), merge = module_.fresh();
    Word more = result(spv::OpULessThan, boolean(), {region.turn, region.end});
    if (region.left != 0) more = result(spv::OpLogicalAnd, boolean(), {more, stayed(region)});
    put(spv::OpSelectionMerge, {merge, spv::SelectionControlMaskNone});
    put(spv::OpBranchConditional, {more, cut, merge});
    label(cut);
    const Word type = module_.pointer(spv::StorageClassStorageBuffer, uint());
    const Word status = result(spv::OpAccessChain, type, {status_, constant(0)});
    result(spv::OpAtomicOr, uint(), {status, constant(spv::ScopeQueueFamily), constant(spv::MemorySemanticsMaskNone), constant(1)});
    branch(merge);
    label(merge);
  }
}

}  // namespace vyre::spirv
