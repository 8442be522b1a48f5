// One function of SPIR-V: the kernel's instructions from first to last, each turned into its words. A value has up to two forms, its bits
// and whether they are not zero (lower/opcode.hpp); its uses say which of them are made. Comparisons stay booleans as long as only
// conditions use them.
#include "vyre/emit/spirv/emit.hpp"

#include <algorithm>
#include <array>

#include "vyre/emit/interface.hpp"
#include "vyre/emit/spirv/emitter.hpp"
#include "vyre/lower/target.hpp"

namespace vyre::spirv {
namespace {

// How an opcode becomes words: the `spirv` column of opcodes.def.
struct Spelling {
  enum class How : std::uint8_t { Own, Expanded, Plain, Function, SignedFunction, Atomic };
  How how = How::Own;
  Word op = 0, of_truths = 0;
};
using How = Spelling::How;
constexpr Spelling own() { return {}; }
constexpr Spelling expanded() { return {How::Expanded}; }
constexpr Spelling plain(spv::Op op, spv::Op of_truths = spv::OpNop) { return {How::Plain, op, of_truths}; }
constexpr Spelling function(GLSLstd450 which) { return {How::Function, which}; }
constexpr Spelling signed_function(GLSLstd450 which) { return {How::SignedFunction, which}; }
constexpr Spelling atomically(spv::Op op) { return {How::Atomic, op}; }

constexpr Spelling kSpellings[] = {
#define VYRE_OPCODE(op, name, imm, flags, forms, spirv, wgsl, ptx) spirv,
#include "vyre/lower/opcodes.def"
};
static_assert(std::ranges::all_of(lower::kOpcodes, [](const lower::OpcodeInfo& row) {
  const auto index = static_cast<std::size_t>(&row - lower::kOpcodes);
  return (kSpellings[index].how == How::Expanded) != lower::shader_target(true, true, true).has(static_cast<Opcode>(index));
}));

}  // namespace

std::vector<Word> Emitter::run() {
  declare();
  load_addresses();
  zero_shared();
  zero_privates();
  // After a Return or a Break nothing runs until its list of statements ends.
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
    if (hides_) {
      next(at);
    } else {
      instruction(at);
    }
  }
  VYRE_ASSERT(regions_.empty());
  if (live_) put(spv::OpReturn, {});
  put(spv::OpFunctionEnd, {});
  return module_.words();
}

Word Emitter::extended(GLSLstd450 function, Word type, std::initializer_list<Word> operands) {
  const Word id = module_.fresh();
  std::vector<Word> words{type, id, glsl_, static_cast<Word>(function)};
  words.insert(words.end(), operands);
  module_.add(Section::FunctionBody, spv::OpExtInst, words);
  return id;
}

void Emitter::define_others(std::uint32_t at, Form made, Word id) {
  const auto also = [&](Form form) { return form != made && uses_.as(form, at); };
  if (also(Form::Bits)) values_[at][Form::Bits] = result(spv::OpSelect, uint(), {id, constant(1), constant(0)});
  if (also(Form::Truth)) values_[at][Form::Truth] = result(spv::OpINotEqual, boolean(), {id, constant(0)});
}

Word Emitter::hidden(Word id) { return result(spv::OpIAdd, uint(), {unknown_zero(), id}); }

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

void Emitter::next(std::uint32_t at) {
  if (!uses_.is_made(at)) return;
  const bool inverts = !known_inversions_.empty() && known_inversions_[at].valid() && uses_.forms(at).a == Form::Bits;
  const bool shifts = !shifts_of_known_signs_.empty() && shifts_of_known_signs_[at];
  if (inverts || shifts) {
    Word& operand = values_[(inverts ? known_inversions_[at] : kernel_.code[at].a).index][Form::Bits];
    const Word known = operand;
    operand = inverts ? hidden(known) : result(spv::OpBitwiseAnd, uint(), {unknown_ones(), known});
    instruction(at);
    operand = known;
  } else {
    instruction(at);
  }
  if (joined_extremes_.empty() || !joined_extremes_[at] || uses_.forms(at).result != Form::Bits) return;
  Word& id = values_[at][Form::Bits];
  // None of the bits of minus the unknown zero are known, so a compiler never leaves out the or.
  id = result(spv::OpBitwiseOr, uint(), {result(spv::OpISub, uint(), {constant(0), unknown_zero()}), id});
}

void Emitter::instruction(std::uint32_t at) {
  const Instruction& code = kernel_.code[at];
  VYRE_ASSERT(!code.bounded);
  if (!uses_.is_made(at)) return;
  const Word volatility = options_.addresses && uses_.as_index(at) ? spv::MemoryAccessVolatileMask : spv::MemoryAccessMaskNone;
  if (uses_.tests_truth(code)) {
    return define(at, code.op == Opcode::Ne ? truth(code.a) : result(spv::OpLogicalNot, boolean(), {truth(code.a)}));
  }
  const Spelling& spelling = kSpellings[static_cast<std::size_t>(code.op)];
  const lower::Forms& forms = uses_.forms(at);
  const auto op = static_cast<spv::Op>(forms.others == Form::Truth ? spelling.of_truths : spelling.op);
  switch (spelling.how) {
    case How::Own:
      return own_instruction(at, volatility);
    case How::Expanded:
      VYRE_ASSERT(!"an opcode of SPIR-V");
      return;
    case How::Plain: {
      const Word a = as(forms.a, code.a);
      if (code.c.valid()) {
        return define(at, result(op, module_.uints(code.lanes), {a, as(forms.others, code.b), as(forms.others, code.c)}));
      }
      const Word type = forms.result == Form::Truth ? boolean() : uint();
      return define(at, code.b.valid() ? result(op, type, {a, as(forms.others, code.b)}) : result(op, type, {a}));
    }
    case How::Function: {
      const auto function = static_cast<GLSLstd450>(spelling.op);
      const Word a = bits(code.a), b = bits(code.b);
      return define(at, code.c.valid() ? extended(function, uint(), {a, b, bits(code.c)}) : extended(function, uint(), {a, b}));
    }
    case How::SignedFunction: {
      // On signed types: SwiftShader folds literals by the sign of their type, whatever the function says.
      const Word type = module_.type(spv::OpTypeInt, {32, 1});
      const Word a = result(spv::OpBitcast, type, {bits(code.a)}), b = result(spv::OpBitcast, type, {bits(code.b)});
      return define(at, result(spv::OpBitcast, uint(), {extended(static_cast<GLSLstd450>(spelling.op), type, {a, b})}));
    }
    case How::Atomic:
      return define(at, atomic(op, code));
  }
}

// Returns the lanes of a Pack. NVIDIA's compiler (driver 580) sets the second of two lanes of a stored vector that are the same literal
// behind the store, if a store in a loop that follows has the same vector. So a literal that comes twice is hidden in a sum with a zero
// that the compiler does not know.
std::array<Word, 4> Emitter::packed_lanes(const Instruction& code) {
  const std::array<ValueId, 4> values = {code.a, code.b, code.c, code.d};
  std::array<Word, 4> lanes{};
  Word zero = 0;
  for (std::uint32_t lane = 0; lane < code.lanes; ++lane) {
    lanes[lane] = bits(values[lane]);
    const Instruction& value = kernel_.code[values[lane].index];
    const auto is_same = [&](ValueId other) {
      const Instruction& it = kernel_.code[other.index];
      return it.op == Opcode::Constant && it.imm == value.imm;
    };
    if (value.op != Opcode::Constant || value.imm == 0) continue;
    if (std::count_if(values.begin(), values.begin() + code.lanes, is_same) == 1) continue;
    if (zero == 0) zero = unknown_zero();
    lanes[lane] = result(spv::OpIAdd, uint(), {zero, lanes[lane]});
  }
  return lanes;
}

// Makes a zero from the numbers of the first workgroup: they are not all above 2^22 - 1, because no call has 2^66 workgroups.
Word Emitter::unknown_zero() {
  Word all = parameter(kFirstGroupWord);
  for (std::uint32_t axis = 1; axis < 3; ++axis) all = result(spv::OpBitwiseAnd, uint(), {all, parameter(kFirstGroupWord + axis)});
  return result(spv::OpShiftRightLogical, uint(), {all, constant(22)});
}

Word Emitter::unknown_ones() { return result(spv::OpISub, uint(), {unknown_zero(), constant(1)}); }

// The opcodes of integers of 64 bits, which are two words elsewhere, the low one first.
Word Emitter::wide(const Instruction& code) {
  const Word type = module_.type(spv::OpTypeInt, {64, 0});
  const Word a = result(spv::OpBitcast, type, {bits(code.a)}), b = result(spv::OpBitcast, type, {bits(code.b)});
  Word value = 0;
  if (code.op == Opcode::WideMulHigh) {
    const Word whole = result(spv::OpUMulExtended, module_.type(spv::OpTypeStruct, {type, type}), {a, b});
    value = result(spv::OpCompositeExtract, type, {whole, 1});
  } else {
    value = result(code.op == Opcode::WideDiv ? spv::OpUDiv : spv::OpUMod, type, {a, b});
  }
  return result(spv::OpBitcast, module_.uints(2), {value});
}

// The opcodes whose spelling is own().
void Emitter::own_instruction(std::uint32_t at, Word volatility) {
  const Instruction& code = kernel_.code[at];
  switch (code.op) {
    case Opcode::Constant:
      return define(at, constant(code.imm));
    case Opcode::WorkgroupId:
      return define(at, workgroup_id(code.imm));
    case Opcode::LocalId:
      return define(at, local_id(code.imm));
    case Opcode::InvocationId: {
      const Word group = workgroup_id(code.imm);
      if (kernel_.workgroup_size[code.imm] == 1) return define(at, group);
      const Word first = result(spv::OpIMul, uint(), {group, constant(kernel_.workgroup_size[code.imm])});
      return define(at, result(spv::OpIAdd, uint(), {first, local_id(code.imm)}));
    }
    case Opcode::Length:
      return define(at, parameter(kFirstLengthWord + code.imm));
    case Opcode::MulHigh: {
      const Word pair = module_.type(spv::OpTypeStruct, {uint(), uint()});
      const Word product = result(spv::OpUMulExtended, pair, {bits(code.a), bits(code.b)});
      return define(at, result(spv::OpCompositeExtract, uint(), {product, 1}));
    }
    case Opcode::WideMulHigh:
    case Opcode::WideDiv:
    case Opcode::WideMod:
      return define(at, wide(code));
    case Opcode::AddSat: {  // 2^32 - 1 - a is what can be added to a
      const Word room = result(spv::OpNot, uint(), {bits(code.a)});
      return define(at, result(spv::OpIAdd, uint(), {bits(code.a), extended(GLSLstd450UMin, uint(), {bits(code.b), room})}));
    }
    case Opcode::SMod: {
      // Vulkan leaves OpSRem of negative operands undefined, and an NVIDIA H200 gives other bytes.
      const Word quotient = result(spv::OpSDiv, uint(), {bits(code.a), bits(code.b)});
      const Word product = result(spv::OpIMul, uint(), {quotient, bits(code.b)});
      return define(at, result(spv::OpISub, uint(), {bits(code.a), product}));
    }
    case Opcode::Neg:
      // Not OpSNegate: optimisers of SPIR-V merge it into divisions by literals, of either sign and with overflow.
      return define(at, result(spv::OpISub, uint(), {constant(0), bits(code.a)}));
    case Opcode::Clz:
      return define(at, result(spv::OpISub, uint(), {constant(31), extended(GLSLstd450FindUMsb, uint(), {bits(code.a)})}));
    case Opcode::Ctz:
      return define(at, extended(GLSLstd450FindILsb, uint(), {bits(code.a)}));
    case Opcode::Lane:
      return define(at, result(spv::OpCompositeExtract, uint(), {bits(code.a), code.imm}));
    case Opcode::Pack: {
      const std::array<Word, 4> lanes = packed_lanes(code);
      if (code.lanes == 2) return define(at, result(spv::OpCompositeConstruct, module_.uints(2), {lanes[0], lanes[1]}));
      return define(at, result(spv::OpCompositeConstruct, module_.uints(4), {lanes[0], lanes[1], lanes[2], lanes[3]}));
    }
    case Opcode::ReadVariable:
      return define(at, result(spv::OpLoad, module_.uints(code.lanes), {variables_[code.imm]}));
    case Opcode::WriteVariable:
      return put(spv::OpStore, {variables_[code.imm], bits(code.a)});
    case Opcode::LoadBuffer:
      return define(at, load_buffer(code, volatility));
    case Opcode::StoreBuffer:
      return store_buffer(code);
    case Opcode::LoadShared:
      return define(at, load_shared(code, volatility));
    case Opcode::StoreShared:
      return store_element(shared_element(code.imm, bits(code.a)), bits(code.b));
    case Opcode::LoadPrivate: {
      const Word element = private_element(code.imm, bits(code.a));
      return define(at, result(spv::OpLoad, module_.uints(code.lanes), {element}));
    }
    case Opcode::StorePrivate:
      return put(spv::OpStore, {private_element(code.imm, bits(code.a)), bits(code.b)});
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
      return leave();
    case Opcode::Break:
      leave_loop(false);
      return;
    default:
      VYRE_ASSERT(false);  // its row of opcodes.def has a form
  }
}

std::vector<std::uint32_t> emit(const Kernel& kernel, const Options& options) { return Emitter(kernel, options).run(); }

}  // namespace vyre::spirv
