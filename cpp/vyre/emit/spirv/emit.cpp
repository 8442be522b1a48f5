// One function of SPIR-V: the kernel's instructions from first to last, each turned into its words.
//
// Memory follows the Vulkan memory model: whatever several invocations may touch is accessed as non-private, barriers make it
// available and visible in the workgroup, atomics are relaxed. Comparisons stay booleans as long as only conditions use them.
//
// Behind an address there is no robust access, so nothing but the kernel keeps an access inside its array. Each one does: a load's index is
// in range, or 0 of an array where 16 bytes may be read; stores and atomics stand under their comparison, or need none
// (lower/accesses.cpp). And an index stays what was compared: what it is loaded from memory for may be written by others meanwhile, so such
// a load is volatile, which no driver may do twice.
#include "vyre/emit/spirv/emit.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

#include "glslang/SPIRV/GLSL.std.450.h"
#include "vyre/base/assert.hpp"
#include "vyre/emit/interface.hpp"
#include "vyre/emit/spirv/module.hpp"
#include "vyre/lower/target.hpp"

namespace vyre::spirv {
namespace {

using lower::has_effect;
using lower::Instruction;
using lower::Kernel;
using lower::Opcode;
using lower::ValueId;

constexpr Word kNonPrivate = spv::MemoryAccessNonPrivatePointerMask;
constexpr Word kBarrierSemantics = Word{spv::MemorySemanticsAcquireReleaseMask} | Word{spv::MemorySemanticsUniformMemoryMask} |
                                   Word{spv::MemorySemanticsWorkgroupMemoryMask} | Word{spv::MemorySemanticsMakeAvailableMask} |
                                   Word{spv::MemorySemanticsMakeVisibleMask};
// Elements an invocation zeroes without a loop, or in one turn of it: some drivers count turns.
constexpr std::uint32_t kZeroedATurn = 16;

// How the invocations of a workgroup zero an array together.
struct Zeroing {
  std::uint64_t stride;  // of them all
  std::uint64_t rounds;  // in which every invocation writes an element
  std::uint64_t looped;  // of these, those that a loop takes kZeroedATurn at a time; a single turn needs no loop
};

Zeroing zeroing(const Kernel& kernel, const lower::SharedArray& array) {
  const ir::WorkgroupSize& size = kernel.workgroup_size;
  const std::uint64_t stride = std::uint64_t{size[0]} * size[1] * size[2];
  const std::uint64_t rounds = array.count / stride, turns = rounds / kZeroedATurn;
  return {stride, rounds, turns > 1 ? turns * kZeroedATurn : 0};
}

// How an opcode's words are made: the `spirv` column of opcodes.def.
struct Spelling {
  enum class Form : std::uint8_t { Own, Expanded, Unary, Integer, Bitwise, Comparison, Function, SignedFunction, Atomic };
  Form form = Form::Own;
  Word op = 0, of_truths = 0;
};
using Form = Spelling::Form;
constexpr Spelling own() { return {}; }
constexpr Spelling expanded() { return {Form::Expanded}; }
constexpr Spelling unary(spv::Op op) { return {Form::Unary, op}; }
constexpr Spelling integer(spv::Op op) { return {Form::Integer, op}; }
constexpr Spelling bitwise(spv::Op op, spv::Op of_truths) { return {Form::Bitwise, op, of_truths}; }
constexpr Spelling comparison(spv::Op op) { return {Form::Comparison, op}; }
constexpr Spelling function(GLSLstd450 which) { return {Form::Function, which}; }
constexpr Spelling signed_function(GLSLstd450 which) { return {Form::SignedFunction, which}; }
constexpr Spelling atomically(spv::Op op) { return {Form::Atomic, op}; }

constexpr Spelling kSpellings[] = {
#define VYRE_OPCODE(op, name, imm, flags, spirv, wgsl) spirv,
#include "vyre/lower/opcodes.def"
};
static_assert(std::ranges::all_of(lower::kOpcodes, [](const lower::OpcodeInfo& row) {
  const auto index = static_cast<std::size_t>(&row - lower::kOpcodes);
  return (kSpellings[index].form == Form::Expanded) != lower::kShaderTarget.has(static_cast<Opcode>(index));
}));

struct Value {
  Word bits = 0;   // u32 lanes; 0 while nobody needs them
  Word truth = 0;  // bool, non-zero lanes or not; 0 while nobody needs it
};

class Emitter {
 public:
  Emitter(const Kernel& kernel, const Options& options) : kernel_(kernel), options_(options), values_(kernel.code.size()) {}

  std::vector<Word> run();

 private:
  struct Use {
    bool as_bits = false, as_truth = false;
    bool as_index = false;  // what is indexed with may depend on it
  };
  // Where a buffer begins, as two halves: not every driver has integers of 64 bits.
  struct Address {
    Word low, high;
  };
  // An open If, Else or Loop.
  struct Region {
    Word merge;
    bool merge_reached;      // some block before branches to it
    Word otherwise = 0;      // of an If with an Else
    Word header = 0;         // of a Loop, and what follows
    Word next = 0;           // its continue target
    Word variable = 0;       // the loop variable
    Word next_variable = 0;  // one turn later
    Word end = 0;            // the upper bound
  };

  void find_uses();
  void declare();
  void load_addresses();
  void zero_shared();
  void instruction(std::uint32_t at);
  void own_instruction(std::uint32_t at, Word only_once);
  void begin_if(std::uint32_t at);
  void begin_else();
  void end_if();
  void begin_loop(std::uint32_t at);
  void end_loop();
  void barrier();

  void put(spv::Op op, std::initializer_list<Word> operands) { module_.add(Section::FunctionBody, op, operands); }
  Word result(spv::Op op, Word type, std::initializer_list<Word> operands) {
    return module_.add_result(Section::FunctionBody, op, type, operands);
  }
  Word extended(GLSLstd450 function, Word type, std::initializer_list<Word> operands);
  void label(Word id) {
    put(spv::OpLabel, {id});
    block_ = id;
    live_ = true;
  }
  // Ends the block, unless something did.
  void branch(Word target) {
    if (live_) put(spv::OpBranch, {target});
    live_ = false;
  }

  Word uint() const { return uint_; }
  Word boolean() const { return boolean_type_; }
  Word constant(Word bits) { return module_.constant(bits); }
  Word bits(ValueId value) const {
    VYRE_ASSERT(values_[value.index].bits != 0);
    return values_[value.index].bits;
  }
  Word truth(ValueId value) const {
    VYRE_ASSERT(values_[value.index].truth != 0);
    return values_[value.index].truth;
  }
  // A boolean comes first and its bits follow, or the other way round.
  void define_truth(std::uint32_t at, Word id);
  void define_bits(std::uint32_t at, Word id);
  bool is_zero(ValueId value) const {
    const Instruction& instruction = kernel_.code[value.index];
    return instruction.op == Opcode::Constant && instruction.imm == 0;
  }
  // A comparison of a boolean with zero is that boolean, or its opposite.
  bool tests_truth(const Instruction& code) const {
    return (code.op == Opcode::Eq || code.op == Opcode::Ne) && boolean_[code.a.index] && is_zero(code.b);
  }

  Word input(Word variable, std::uint32_t axis);
  Word parameter(std::uint32_t word);
  Word workgroup_id(std::uint32_t axis);
  Word local_id(std::uint32_t axis);
  Word buffer_element(std::uint32_t slot, Word index);
  Word addressed_element(std::uint32_t slot, Word index);
  Word load_buffer(const Instruction& code, Word only_once);
  void store_buffer(const Instruction& code);
  Word shared_element(std::uint32_t array, Word index);
  Word atomic(spv::Op op, const Instruction& code);

  const Kernel& kernel_;
  const Options& options_;
  Module module_;

  std::vector<Value> values_;
  std::vector<bool> boolean_;  // 0 or 1, and made as a bool
  std::vector<Use> uses_;
  std::vector<Region> regions_;
  Word block_ = 0;     // the label of the current block
  bool live_ = false;  // the current block has not ended

  Word glsl_ = 0, uint_ = 0, boolean_type_ = 0;
  Word workgroup_id_ = 0, local_id_ = 0, local_index_ = 0, parameters_ = 0, status_ = 0;
  std::vector<Word> buffers_, shared_, variables_;  // with addresses, of buffers the one that holds them
  std::vector<Address> addresses_;
  std::array<Word, 5> buffer_pointers_{}, shared_pointers_{};  // to an element of so many lanes
};

std::vector<Word> Emitter::run() {
  find_uses();
  declare();
  load_addresses();
  zero_shared();
  // After a Return nothing runs until its list of statements ends.
  std::uint32_t skipped_depth = 0;
  for (std::uint32_t at = 0; at < kernel_.code.size(); ++at) {
    const Opcode op = kernel_.code[at].op;
    if (!live_) {
      const bool opens = op == Opcode::If || op == Opcode::Loop;
      const bool closes = op == Opcode::EndIf || op == Opcode::EndLoop;
      if (opens) ++skipped_depth;
      const bool skip = skipped_depth > 0 || !(closes || op == Opcode::Else);
      if (closes && skipped_depth > 0) --skipped_depth;
      if (skip) continue;
    }
    instruction(at);
  }
  VYRE_ASSERT(regions_.empty());
  if (live_) put(spv::OpReturn, {});
  put(spv::OpFunctionEnd, {});
  return module_.words();
}

// Which form of each value somebody needs. A value that nobody needs is not made, unless making it does something.
void Emitter::find_uses() {
  const std::vector<Instruction>& code = kernel_.code;
  boolean_.resize(code.size());
  for (std::size_t at = 0; at < code.size(); ++at) {
    const Instruction& it = code[at];
    boolean_[at] = is_comparison(it.op) || (is_bitwise(it.op) && boolean_[it.a.index] && boolean_[it.b.index]);
  }
  uses_.resize(code.size());
  for (std::size_t at = code.size(); at-- > 0;) {
    const Instruction& it = code[at];
    const Use use = uses_[at];
    if (!has_effect(it.op) && !use.as_bits && !use.as_truth) continue;
    if (accesses_memory(it.op)) {
      uses_[it.a.index].as_index = true;
    } else if (use.as_index || it.op == Opcode::WriteVariable) {
      // Who reads a variable may index with it.
      for (const ValueId operand : {it.a, it.b, it.c, it.d}) {
        if (operand.valid()) uses_[operand.index].as_index = true;
      }
    }
    if (it.op == Opcode::If) {
      uses_[it.a.index].as_truth = true;
    } else if (it.op == Opcode::Select) {
      uses_[it.a.index].as_truth = true;
      uses_[it.b.index].as_bits = true;
      uses_[it.c.index].as_bits = true;
    } else if (tests_truth(it)) {
      uses_[it.a.index].as_truth = true;
    } else {
      const bool truths = boolean_[at] && !is_comparison(it.op);
      for (const ValueId operand : {it.a, it.b, it.c, it.d}) {
        if (operand.valid()) (truths ? uses_[operand.index].as_truth : uses_[operand.index].as_bits) = true;
      }
    }
  }
}

void Emitter::declare() {
  module_.add(Section::Capabilities, spv::OpCapability, {spv::CapabilityShader});
  module_.add(Section::Capabilities, spv::OpCapability, {spv::CapabilityVulkanMemoryModel});
  if (options_.addresses) module_.add(Section::Capabilities, spv::OpCapability, {spv::CapabilityPhysicalStorageBufferAddresses});
  glsl_ = module_.fresh();
  std::vector<Word> import{glsl_};
  const std::vector<Word> library = string_words("GLSL.std.450");
  import.insert(import.end(), library.begin(), library.end());
  module_.add(Section::Imports, spv::OpExtInstImport, import);
  const auto addressing = options_.addresses ? spv::AddressingModelPhysicalStorageBuffer64 : spv::AddressingModelLogical;
  module_.add(Section::MemoryModel, spv::OpMemoryModel, {static_cast<Word>(addressing), spv::MemoryModelVulkan});

  // Asked for here, so that no id depends on the order in which a compiler evaluates arguments.
  uint_ = module_.uint();
  boolean_type_ = module_.type(spv::OpTypeBool, {});

  std::vector<Word> interface;
  const auto built_in = [&](spv::BuiltIn which, Word type) {
    const Word id = module_.variable(Section::Globals, spv::StorageClassInput, type);
    module_.decorate(id, {spv::DecorationBuiltIn, static_cast<Word>(which)});
    interface.push_back(id);
    return id;
  };
  const Word vector = module_.uints(3);
  workgroup_id_ = built_in(spv::BuiltInWorkgroupId, vector);
  local_id_ = built_in(spv::BuiltInLocalInvocationId, vector);
  if (!kernel_.shared.empty()) local_index_ = built_in(spv::BuiltInLocalInvocationIndex, uint());

  const auto words = static_cast<Word>(kFirstLengthWord + kernel_.buffers.size());
  const Word words_type = module_.distinct_type(spv::OpTypeArray, {uint(), constant(words)});
  module_.decorate(words_type, {spv::DecorationArrayStride, 4});
  const auto block = [&](Word member) {
    const Word type = module_.distinct_type(spv::OpTypeStruct, {member});
    module_.decorate(type, {spv::DecorationBlock});
    module_.decorate_member(type, 0, {spv::DecorationOffset, 0});
    return type;
  };
  parameters_ = module_.variable(Section::Globals, spv::StorageClassPushConstant, block(words_type));
  interface.push_back(parameters_);

  const auto bind = [&](Word type, std::size_t binding) {
    const Word id = module_.variable(Section::Globals, spv::StorageClassStorageBuffer, type);
    module_.decorate(id, {spv::DecorationDescriptorSet, 0});
    module_.decorate(id, {spv::DecorationBinding, static_cast<Word>(binding)});
    interface.push_back(id);
    return id;
  };
  // What is only read has types of its own: on an NVIDIA H200, a variable decorated NonWritable made loads from others of the same
  // type move over stores.
  std::array<std::array<Word, 5>, 2> blocks{};  // by whether it is written, and lanes
  const auto array_of = [&](std::uint32_t lanes, bool writable) {
    Word& type = blocks[writable ? 1 : 0][lanes];
    if (type == 0) {
      const Word elements = module_.distinct_type(spv::OpTypeRuntimeArray, {module_.uints(lanes)});
      module_.decorate(elements, {spv::DecorationArrayStride, 4 * lanes});
      type = block(elements);
      if (!writable) module_.decorate_member(type, 0, {spv::DecorationNonWritable});
    }
    return type;
  };
  if (options_.addresses) {
    buffers_.push_back(bind(array_of(2, false), 0));
  } else {
    for (const lower::KernelBuffer& buffer : kernel_.buffers)
      buffers_.push_back(bind(array_of(buffer.lanes, buffer.writable), buffers_.size()));
  }
  if (options_.check_loops) status_ = bind(block(uint()), buffers_.size());

  for (const lower::SharedArray& array : kernel_.shared) {
    const Word type = module_.type(spv::OpTypeArray, {module_.uints(array.lanes), constant(array.count)});
    shared_.push_back(module_.variable(Section::Globals, spv::StorageClassWorkgroup, type));
    interface.push_back(shared_.back());
  }

  const Word nothing = module_.type(spv::OpTypeVoid, {});
  const Word function_type = module_.type(spv::OpTypeFunction, {nothing});
  const Word main = module_.fresh();
  module_.add(Section::FunctionHead, spv::OpFunction, {nothing, main, spv::FunctionControlMaskNone, function_type});
  block_ = module_.fresh();
  module_.add(Section::FunctionHead, spv::OpLabel, {block_});
  live_ = true;
  for (const std::uint8_t lanes : kernel_.variables) {
    variables_.push_back(module_.variable(Section::FunctionVariables, spv::StorageClassFunction, module_.uints(lanes)));
  }

  std::vector<Word> entry{spv::ExecutionModelGLCompute, main};
  const std::vector<Word> entry_name = string_words("main");
  entry.insert(entry.end(), entry_name.begin(), entry_name.end());
  entry.insert(entry.end(), interface.begin(), interface.end());
  module_.add(Section::EntryPoint, spv::OpEntryPoint, entry);
  const ir::WorkgroupSize& size = kernel_.workgroup_size;
  module_.add(Section::ExecutionModes, spv::OpExecutionMode, {main, spv::ExecutionModeLocalSize, size[0], size[1], size[2]});
}

void Emitter::load_addresses() {
  if (!options_.addresses) return;
  const Word pair = module_.uints(2), pointer = module_.pointer(spv::StorageClassStorageBuffer, pair);
  for (std::uint32_t slot = 0; slot < kernel_.buffers.size(); ++slot) {
    const Word entry = result(spv::OpAccessChain, pointer, {buffers_[0], constant(0), constant(slot)});
    const Word address = result(spv::OpLoad, pair, {entry});
    const Word low = result(spv::OpCompositeExtract, uint(), {address, 0});
    addresses_.push_back({low, result(spv::OpCompositeExtract, uint(), {address, 1})});
  }
}

// All invocations together write zeros, each at its own number and every `stride` elements from there.
void Emitter::zero_shared() {
  if (kernel_.shared.empty()) return;
  const Word first = result(spv::OpLoad, uint(), {local_index_});
  for (std::uint32_t array = 0; array < kernel_.shared.size(); ++array) {
    const lower::SharedArray& shared = kernel_.shared[array];
    const auto [stride, rounds, looped] = zeroing(kernel_, shared);
    const Word zero = module_.null(module_.uints(shared.lanes));
    const auto write = [&](Word index) { put(spv::OpStore, {shared_element(array, index), zero, kNonPrivate}); };
    const auto later = [&, stride = stride](Word index, std::uint64_t by) {
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
      for (std::uint32_t round = 0; round < kZeroedATurn; ++round) write(later(index, round));
      branch(next);
      label(next);
      put(spv::OpIAdd, {uint(), next_index, index, constant(static_cast<Word>(kZeroedATurn * stride))});
      branch(header);
      label(merge);
    }
    for (std::uint64_t round = looped; round < rounds; ++round) write(later(first, round));
    if (const std::uint64_t rest = shared.count - rounds * stride; rest > 0) {
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
  barrier();
}

Word Emitter::extended(GLSLstd450 function, Word type, std::initializer_list<Word> operands) {
  const Word id = module_.fresh();
  std::vector<Word> words{type, id, glsl_, static_cast<Word>(function)};
  words.insert(words.end(), operands);
  module_.add(Section::FunctionBody, spv::OpExtInst, words);
  return id;
}

void Emitter::define_truth(std::uint32_t at, Word id) {
  values_[at].truth = id;
  if (uses_[at].as_bits) values_[at].bits = result(spv::OpSelect, uint(), {id, constant(1), constant(0)});
}

void Emitter::define_bits(std::uint32_t at, Word id) {
  values_[at].bits = id;
  if (uses_[at].as_truth) values_[at].truth = result(spv::OpINotEqual, boolean(), {id, constant(0)});
}

Word Emitter::input(Word variable, std::uint32_t axis) {
  const Word type = module_.pointer(spv::StorageClassInput, uint());
  return result(spv::OpLoad, uint(), {result(spv::OpAccessChain, type, {variable, constant(axis)})});
}

Word Emitter::parameter(std::uint32_t word) {
  const Word type = module_.pointer(spv::StorageClassPushConstant, uint());
  return result(spv::OpLoad, uint(), {result(spv::OpAccessChain, type, {parameters_, constant(0), constant(word)})});
}

Word Emitter::workgroup_id(std::uint32_t axis) {
  return result(spv::OpIAdd, uint(), {parameter(kFirstGroupWord + axis), input(workgroup_id_, axis)});
}

Word Emitter::local_id(std::uint32_t axis) { return kernel_.workgroup_size[axis] == 1 ? constant(0) : input(local_id_, axis); }

// Where the array begins, and index * bytes of an element, which is a power of two.
Word Emitter::addressed_element(std::uint32_t slot, Word index) {
  const std::uint32_t lanes = kernel_.buffers[slot].lanes;
  const auto shift = static_cast<Word>(std::countr_zero(4 * lanes));
  const Word low = result(spv::OpShiftLeftLogical, uint(), {index, constant(shift)});
  const Word high = result(spv::OpShiftRightLogical, uint(), {index, constant(32 - shift)});
  const Word sum_type = module_.type(spv::OpTypeStruct, {uint(), uint()});
  const Word sum = result(spv::OpIAddCarry, sum_type, {addresses_[slot].low, low});
  const Word carry = result(spv::OpCompositeExtract, uint(), {sum, 1});
  const Word carried = result(spv::OpIAdd, uint(), {high, carry});
  const Word sum_low = result(spv::OpCompositeExtract, uint(), {sum, 0});
  const Word sum_high = result(spv::OpIAdd, uint(), {addresses_[slot].high, carried});
  const Word address = result(spv::OpCompositeConstruct, module_.uints(2), {sum_low, sum_high});
  Word& type = buffer_pointers_[lanes];
  if (type == 0) type = module_.pointer(spv::StorageClassPhysicalStorageBuffer, module_.uints(lanes));
  return result(spv::OpBitcast, type, {address});
}

Word Emitter::buffer_element(std::uint32_t slot, Word index) {
  if (options_.addresses) return addressed_element(slot, index);
  Word& type = buffer_pointers_[kernel_.buffers[slot].lanes];
  if (type == 0) type = module_.pointer(spv::StorageClassStorageBuffer, module_.uints(kernel_.buffers[slot].lanes));
  return result(spv::OpAccessChain, type, {buffers_[slot], constant(0), index});
}

Word Emitter::shared_element(std::uint32_t array, Word index) {
  Word& type = shared_pointers_[kernel_.shared[array].lanes];
  if (type == 0) type = module_.pointer(spv::StorageClassWorkgroup, module_.uints(kernel_.shared[array].lanes));
  return result(spv::OpAccessChain, type, {shared_[array], index});
}

Word Emitter::load_buffer(const Instruction& code, Word only_once) {
  const lower::KernelBuffer& buffer = kernel_.buffers[code.imm];
  const Word element = buffer_element(code.imm, bits(code.a));
  const Word type = module_.uints(code.lanes);
  const Word access = buffer.writable ? kNonPrivate | only_once : Word{spv::MemoryAccessMaskNone};
  if (options_.addresses) return result(spv::OpLoad, type, {element, access | spv::MemoryAccessAlignedMask, 4 * buffer.lanes});
  if (!buffer.writable) return result(spv::OpLoad, type, {element});
  return result(spv::OpLoad, type, {element, access});
}

void Emitter::store_buffer(const Instruction& code) {
  const Word element = buffer_element(code.imm, bits(code.a));
  if (!options_.addresses) return put(spv::OpStore, {element, bits(code.b), kNonPrivate});
  put(spv::OpStore, {element, bits(code.b), kNonPrivate | spv::MemoryAccessAlignedMask, 4 * kernel_.buffers[code.imm].lanes});
}

Word Emitter::atomic(spv::Op op, const Instruction& code) {
  const Word element = buffer_element(code.imm, bits(code.a));
  // Device scope is a feature that not every driver has; a dispatch runs on one queue.
  const Word scope = constant(spv::ScopeQueueFamily), relaxed = constant(spv::MemorySemanticsMaskNone);
  if (op == spv::OpAtomicCompareExchange) return result(op, uint(), {element, scope, relaxed, relaxed, bits(code.c), bits(code.b)});
  return result(op, uint(), {element, scope, relaxed, bits(code.b)});
}

void Emitter::barrier() {
  put(spv::OpControlBarrier, {constant(spv::ScopeWorkgroup), constant(spv::ScopeWorkgroup), constant(kBarrierSemantics)});
}

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
  region.variable = module_.fresh();
  region.next_variable = module_.fresh();
  region.end = bits(code.b);
  const Word before = block_, body = module_.fresh();
  branch(region.header);
  label(region.header);
  put(spv::OpPhi, {uint(), region.variable, bits(code.a), before, region.next_variable, region.next});
  const Word more = result(spv::OpULessThan, boolean(), {region.variable, region.end});
  put(spv::OpLoopMerge, {region.merge, region.next, spv::LoopControlMaskNone});
  put(spv::OpBranchConditional, {more, body, region.merge});
  label(body);
  define_bits(at, region.variable);
  regions_.push_back(region);
}

void Emitter::end_loop() {
  const Region region = regions_.back();
  regions_.pop_back();
  branch(region.next);
  label(region.next);
  // The variable is below the end here, so it does not wrap.
  put(spv::OpIAdd, {uint(), region.next_variable, region.variable, constant(1)});
  branch(region.header);
  label(region.merge);
  if (options_.check_loops) {
    // Never true, unless the driver left the loop on its own account.
    const Word cut = module_.fresh(), merge = module_.fresh();
    const Word more = result(spv::OpULessThan, boolean(), {region.variable, region.end});
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

void Emitter::instruction(std::uint32_t at) {
  const Instruction& code = kernel_.code[at];
  VYRE_ASSERT(!code.bounded);
  if (!has_effect(code.op) && !uses_[at].as_bits && !uses_[at].as_truth) return;
  const Word only_once = options_.addresses && uses_[at].as_index ? spv::MemoryAccessVolatileMask : spv::MemoryAccessMaskNone;
  if (tests_truth(code)) {
    return define_truth(at, code.op == Opcode::Ne ? truth(code.a) : result(spv::OpLogicalNot, boolean(), {truth(code.a)}));
  }
  const Spelling& spelling = kSpellings[static_cast<std::size_t>(code.op)];
  const auto op = static_cast<spv::Op>(spelling.op);
  switch (spelling.form) {
    case Form::Own:
      return own_instruction(at, only_once);
    case Form::Expanded:
      VYRE_ASSERT(!"an opcode of SPIR-V");
      return;
    case Form::Unary:
      return define_bits(at, result(op, uint(), {bits(code.a)}));
    case Form::Bitwise:
      if (boolean_[at]) {
        return define_truth(at, result(static_cast<spv::Op>(spelling.of_truths), boolean(), {truth(code.a), truth(code.b)}));
      }
      [[fallthrough]];
    case Form::Integer:
      return define_bits(at, result(op, uint(), {bits(code.a), bits(code.b)}));
    case Form::Comparison:
      return define_truth(at, result(op, boolean(), {bits(code.a), bits(code.b)}));
    case Form::Function:
      return define_bits(at, extended(static_cast<GLSLstd450>(spelling.op), uint(), {bits(code.a), bits(code.b)}));
    case Form::SignedFunction: {
      // On signed types: SwiftShader folds literals by the sign of their type, whatever the function says.
      const Word type = module_.type(spv::OpTypeInt, {32, 1});
      const Word a = result(spv::OpBitcast, type, {bits(code.a)}), b = result(spv::OpBitcast, type, {bits(code.b)});
      return define_bits(at, result(spv::OpBitcast, uint(), {extended(static_cast<GLSLstd450>(spelling.op), type, {a, b})}));
    }
    case Form::Atomic:
      return define_bits(at, atomic(op, code));
  }
}

// The opcodes that no form fits.
void Emitter::own_instruction(std::uint32_t at, Word only_once) {
  const Instruction& code = kernel_.code[at];
  switch (code.op) {
    case Opcode::Constant:
      return define_bits(at, constant(code.imm));
    case Opcode::WorkgroupId:
      return define_bits(at, workgroup_id(code.imm));
    case Opcode::LocalId:
      return define_bits(at, local_id(code.imm));
    case Opcode::InvocationId: {
      const Word group = workgroup_id(code.imm);
      if (kernel_.workgroup_size[code.imm] == 1) return define_bits(at, group);
      const Word first = result(spv::OpIMul, uint(), {group, constant(kernel_.workgroup_size[code.imm])});
      return define_bits(at, result(spv::OpIAdd, uint(), {first, local_id(code.imm)}));
    }
    case Opcode::Length:
      return define_bits(at, parameter(kFirstLengthWord + code.imm));
    case Opcode::MulHigh: {
      const Word pair = module_.type(spv::OpTypeStruct, {uint(), uint()});
      const Word product = result(spv::OpUMulExtended, pair, {bits(code.a), bits(code.b)});
      return define_bits(at, result(spv::OpCompositeExtract, uint(), {product, 1}));
    }
    case Opcode::AddSat: {  // 2^32 - 1 - a is what can be added to a
      const Word room = result(spv::OpNot, uint(), {bits(code.a)});
      return define_bits(at, result(spv::OpIAdd, uint(), {bits(code.a), extended(GLSLstd450UMin, uint(), {bits(code.b), room})}));
    }
    case Opcode::SMod: {
      // Vulkan leaves OpSRem of negative operands undefined, and an NVIDIA H200 gives other bytes.
      const Word quotient = result(spv::OpSDiv, uint(), {bits(code.a), bits(code.b)});
      const Word product = result(spv::OpIMul, uint(), {quotient, bits(code.b)});
      return define_bits(at, result(spv::OpISub, uint(), {bits(code.a), product}));
    }
    case Opcode::Neg:
      // Not OpSNegate: optimisers of SPIR-V merge it into divisions by literals, of either sign and with overflow.
      return define_bits(at, result(spv::OpISub, uint(), {constant(0), bits(code.a)}));
    case Opcode::Clz:
      return define_bits(at, result(spv::OpISub, uint(), {constant(31), extended(GLSLstd450FindUMsb, uint(), {bits(code.a)})}));
    case Opcode::Ctz:
      return define_bits(at, extended(GLSLstd450FindILsb, uint(), {bits(code.a)}));
    case Opcode::Select:
      return define_bits(at, result(spv::OpSelect, module_.uints(code.lanes), {truth(code.a), bits(code.b), bits(code.c)}));
    case Opcode::Lane:
      return define_bits(at, result(spv::OpCompositeExtract, uint(), {bits(code.a), code.imm}));
    case Opcode::Pack:
      if (code.lanes == 2) {
        return define_bits(at, result(spv::OpCompositeConstruct, module_.uints(2), {bits(code.a), bits(code.b)}));
      }
      return define_bits(at, result(spv::OpCompositeConstruct, module_.uints(4), {bits(code.a), bits(code.b), bits(code.c), bits(code.d)}));
    case Opcode::ReadVariable:
      return define_bits(at, result(spv::OpLoad, module_.uints(code.lanes), {variables_[code.imm]}));
    case Opcode::WriteVariable:
      return put(spv::OpStore, {variables_[code.imm], bits(code.a)});
    case Opcode::LoadBuffer:
      return define_bits(at, load_buffer(code, only_once));
    case Opcode::StoreBuffer:
      return store_buffer(code);
    case Opcode::LoadShared: {
      const Word element = shared_element(code.imm, bits(code.a));
      return define_bits(at, result(spv::OpLoad, module_.uints(code.lanes), {element, kNonPrivate | only_once}));
    }
    case Opcode::StoreShared:
      return put(spv::OpStore, {shared_element(code.imm, bits(code.a)), bits(code.b), kNonPrivate});
    case Opcode::If:
      return begin_if(at);
    case Opcode::Else:
      return begin_else();
    case Opcode::EndIf:
      return end_if();
    case Opcode::Loop:
      return begin_loop(at);
    case Opcode::EndLoop:
      return end_loop();
    case Opcode::Barrier:
      return barrier();
    case Opcode::Return:
      put(spv::OpReturn, {});
      live_ = false;
      return;
    default:
      VYRE_ASSERT(false);  // its row of opcodes.def has a form
  }
}

}  // namespace

std::uint64_t zeroing_rounds(const Kernel& kernel) {
  std::uint64_t sum = 0;
  for (const lower::SharedArray& array : kernel.shared) {
    const std::uint64_t looped = zeroing(kernel, array).looped;
    if (looped > 0) sum += looped / kZeroedATurn + 1;
  }
  return sum;
}

std::vector<std::uint32_t> emit(const Kernel& kernel, const Options& options) { return Emitter(kernel, options).run(); }

}  // namespace vyre::spirv
