// Accesses to memory, by the Vulkan memory model: whatever several invocations may touch is accessed as non-private, barriers make it
// available and visible in the workgroup, atomics are relaxed.
//
// Behind an address there is no robust access, so nothing but the kernel keeps an access inside its array. Each one does: a load's index is
// in range, or 0 of an array where 16 bytes may be read; stores and atomics stand under their comparison, or need none
// (lower/accesses.cpp). And an index stays what was compared: others may write to the memory that it was loaded from, so such a load is
// volatile, and no driver may repeat it.
#include <bit>

#include "vyre/emit/spirv/emitter.hpp"

namespace vyre::spirv {
namespace {

constexpr Word kNonPrivate = spv::MemoryAccessNonPrivatePointerMask;
constexpr Word kBarrierSemantics = Word{spv::MemorySemanticsAcquireReleaseMask} | Word{spv::MemorySemanticsUniformMemoryMask} |
                                   Word{spv::MemorySemanticsWorkgroupMemoryMask} | Word{spv::MemorySemanticsMakeAvailableMask} |
                                   Word{spv::MemorySemanticsMakeVisibleMask};

}  // namespace

Word Emitter::element_type(const lower::KernelBuffer& buffer) {
  return buffer.narrow != 0 ? module_.type(spv::OpTypeInt, {8 * buffer.narrow, 0}) : module_.uints(buffer.lanes);
}

Word& Emitter::buffer_pointer(const lower::KernelBuffer& buffer) {
  return buffer_pointers_[static_cast<std::size_t>(std::countr_zero(buffer.bytes()))];
}

// The address of the array plus index * bytes of an element, which is a power of two.
Word Emitter::addressed_element(std::uint32_t slot, Word index) {
  const lower::KernelBuffer& buffer = kernel_.buffers[slot];
  const auto shift = static_cast<Word>(std::countr_zero(buffer.bytes()));
  const Word low = shift == 0 ? index : result(spv::OpShiftLeftLogical, uint(), {index, constant(shift)});
  const Word high = shift == 0 ? constant(0) : result(spv::OpShiftRightLogical, uint(), {index, constant(32 - shift)});
  const Word sum_type = module_.type(spv::OpTypeStruct, {uint(), uint()});
  const Word sum = result(spv::OpIAddCarry, sum_type, {addresses_[slot].low, low});
  const Word carry = result(spv::OpCompositeExtract, uint(), {sum, 1});
  const Word carried = result(spv::OpIAdd, uint(), {high, carry});
  const Word sum_low = result(spv::OpCompositeExtract, uint(), {sum, 0});
  const Word sum_high = result(spv::OpIAdd, uint(), {addresses_[slot].high, carried});
  const Word address = result(spv::OpCompositeConstruct, module_.uints(2), {sum_low, sum_high});
  Word& type = buffer_pointer(buffer);
  if (type == 0) type = module_.pointer(spv::StorageClassPhysicalStorageBuffer, element_type(buffer));
  return result(spv::OpBitcast, type, {address});
}

Word Emitter::buffer_element(std::uint32_t slot, Word index) {
  if (options_.addresses) return addressed_element(slot, index);
  const lower::KernelBuffer& buffer = kernel_.buffers[slot];
  Word& type = buffer_pointer(buffer);
  if (type == 0) type = module_.pointer(spv::StorageClassStorageBuffer, element_type(buffer));
  return result(spv::OpAccessChain, type, {buffers_[slot], constant(0), index});
}

Word Emitter::shared_element(std::uint32_t array, Word index) {
  Word& type = shared_pointers_[kernel_.shared[array].lanes];
  if (type == 0) type = module_.pointer(spv::StorageClassWorkgroup, module_.uints(kernel_.shared[array].lanes));
  return result(spv::OpAccessChain, type, {shared_[array], index});
}

Word Emitter::private_element(std::uint32_t array, Word index) {
  Word& type = private_pointers_[kernel_.privates[array].lanes];
  if (type == 0) type = module_.pointer(spv::StorageClassFunction, module_.uints(kernel_.privates[array].lanes));
  return result(spv::OpAccessChain, type, {privates_[array], index});
}

Word Emitter::load_buffer(const Instruction& code, Word volatility) {
  const lower::KernelBuffer& buffer = kernel_.buffers[code.imm];
  const Word element = buffer_element(code.imm, bits(code.a));
  // Others may change the other elements of the word at the same time.
  if (buffer.packed && buffer.atomic) {
    return result(spv::OpAtomicLoad, uint(), {element, constant(spv::ScopeQueueFamily), constant(spv::MemorySemanticsMaskNone)});
  }
  const Word type = element_type(buffer);
  const Word access = buffer.writable ? kNonPrivate | volatility : Word{spv::MemoryAccessMaskNone};
  const auto load = [&] {
    if (options_.addresses) return result(spv::OpLoad, type, {element, access | spv::MemoryAccessAlignedMask, buffer.bytes()});
    if (!buffer.writable) return result(spv::OpLoad, type, {element});
    return result(spv::OpLoad, type, {element, access});
  };
  if (buffer.narrow == 0) return load();
  return result(buffer.extend == ir::Extend::Sign ? spv::OpSConvert : spv::OpUConvert, uint(), {load()});
}

Word Emitter::load_shared(const Instruction& code, Word volatility) {
  const Word element = shared_element(code.imm, bits(code.a));
  return result(spv::OpLoad, module_.uints(code.lanes), {element, kNonPrivate | volatility});
}

void Emitter::store_buffer(const Instruction& code) {
  const lower::KernelBuffer& buffer = kernel_.buffers[code.imm];
  const Word element = buffer_element(code.imm, bits(code.a));
  const Word value = buffer.narrow == 0 ? bits(code.b) : result(spv::OpUConvert, element_type(buffer), {bits(code.b)});
  if (!options_.addresses) return put(spv::OpStore, {element, value, kNonPrivate});
  put(spv::OpStore, {element, value, kNonPrivate | spv::MemoryAccessAlignedMask, buffer.bytes()});
}

void Emitter::store_element(Word element, Word value) { put(spv::OpStore, {element, value, kNonPrivate}); }

Word Emitter::atomic(spv::Op op, const Instruction& code) {
  const Word element = code.shared ? shared_element(code.imm, bits(code.a)) : buffer_element(code.imm, bits(code.a));
  // Device scope is a feature that not every driver has; a dispatch runs on one queue.
  const Word scope = constant(code.shared ? spv::ScopeWorkgroup : spv::ScopeQueueFamily), relaxed = constant(spv::MemorySemanticsMaskNone);
  if (op == spv::OpAtomicCompareExchange) return result(op, uint(), {element, scope, relaxed, relaxed, bits(code.c), bits(code.b)});
  return result(op, uint(), {element, scope, relaxed, bits(code.b)});
}

void Emitter::barrier() {
  put(spv::OpControlBarrier, {constant(spv::ScopeWorkgroup), constant(spv::ScopeWorkgroup), constant(kBarrierSemantics)});
}

}  // namespace vyre::spirv
