// Zeroes the shared arrays when a workgroup starts. Its invocations share the work: of `stride` invocations, number k zeroes the elements
// k, k + stride, k + 2 * stride and so on. Each invocation zeroes its private arrays alone.
#include "vyre/emit/spirv/emitter.hpp"

namespace vyre::spirv {
namespace {

// The number of elements that an invocation zeroes without a loop, or in one round of it: some drivers count rounds.
constexpr std::uint32_t kZeroedARound = 16;

// The work of zeroing one array of `count` elements, shared among `stride` invocations.
struct Zeroing {
  std::uint64_t rounds;  // how many elements every invocation writes
  std::uint64_t looped;  // how many of these a loop writes, kZeroedARound at a time; a single round needs no loop
};

Zeroing zeroing(std::uint32_t count, std::uint64_t stride) {
  const std::uint64_t rounds = count / stride, loop_rounds = rounds / kZeroedARound;
  return {rounds, loop_rounds > 1 ? loop_rounds * kZeroedARound : 0};
}

std::uint64_t invocations(const Kernel& kernel) {
  const ir::WorkgroupSize& size = kernel.workgroup_size;
  return std::uint64_t{size[0]} * size[1] * size[2];
}

}  // namespace

void Emitter::zero_shared() {
  if (kernel_.shared.empty()) return;
  const Word first = result(spv::OpLoad, uint(), {local_index_});
  for (std::uint32_t array = 0; array < kernel_.shared.size(); ++array) {
    const Word zero = module_.null(module_.uints(kernel_.shared[array].lanes));
    zero_array(kernel_.shared[array].count, invocations(kernel_), first,
               [&](Word index) { store_element(shared_element(array, index), zero); });
  }
  barrier();
}

// An initialiser would do the same, but llvmpipe takes a minute to compile one of a thousand elements.
void Emitter::zero_privates() {
  for (std::uint32_t array = 0; array < kernel_.privates.size(); ++array) {
    const Word zero = module_.null(module_.uints(kernel_.privates[array].lanes));
    zero_array(kernel_.privates[array].count, 1, constant(0), [&](Word index) {
      put(spv::OpStore, {private_element(array, index), zero});
    });
  }
}

// The invocation of number `first` among `stride` writes the elements first, first + stride and so on.
void Emitter::zero_array(std::uint32_t count, std::uint64_t stride, Word first, const std::function<void(Word)>& write) {
  const auto [rounds, looped] = zeroing(count, stride);
  const auto later = [&](Word index, std::uint64_t by) {
    return by == 0 ? index : result(spv::OpIAdd, uint(), {index, constant(static_cast<Word>(by * stride))});
  };
  if (looped > 0) {
    const Word before = block_, header = module_.fresh(), body = module_.fresh(), next = module_.fresh(), merge = module_.fresh();
    const Word index = module_.fresh(), next_index = module_.fresh();
    branch(header);
    label(header);
    put(spv::OpPhi, {uint(), index, first, before, next_index, next});
    const Word more = result(spv::OpULessThan, boolean(), {index, constant(static_cast<Word>(looped * stride))});
    put(spv::OpLoopMerge, {merge, next, spv::LoopControlMaskNone});
    put(spv::OpBranchConditional, {more, body, merge});
    label(body);
    for (std::uint32_t round = 0; round < kZeroedARound; ++round) write(later(index, round));
    branch(next);
    label(next);
    put(spv::OpIAdd, {uint(), next_index, index, constant(static_cast<Word>(kZeroedARound * stride))});
    branch(header);
    label(merge);
  }
  for (std::uint64_t round = looped; round < rounds; ++round) write(later(first, round));
  if (const std::uint64_t rest = count - rounds * stride; rest > 0) {
    const Word body = module_.fresh(), merge = module_.fresh();
    const Word in = result(spv::OpULessThan, boolean(), {first, constant(static_cast<Word>(rest))});
    put(spv::OpSelectionMerge, {merge, spv::SelectionControlMaskNone});
    put(spv::OpBranchConditional, {in, body, merge});
    label(body);
    write(later(first, rounds));
    branch(merge);
    label(merge);
  }
}

std::uint64_t zeroing_rounds(const Kernel& kernel) {
  std::uint64_t sum = 0;
  const auto add = [&](std::uint32_t count, std::uint64_t stride) {
    const std::uint64_t looped = zeroing(count, stride).looped;
    if (looped > 0) sum += looped / kZeroedARound + 1;
  };
  for (const lower::SharedArray& array : kernel.shared) add(array.count, invocations(kernel));
  for (const lower::PrivateArray& array : kernel.privates) add(array.count, 1);
  return sum;
}

}  // namespace vyre::spirv
