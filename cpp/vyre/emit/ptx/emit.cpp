// The kernel's instructions from first to last, each turned into its lines. A value has up to two forms, its words and a predicate for
// whether it is not zero; the uses of a value say which of them are made. Control flow is labels and branches: X<k> stands at instruction
// k, an Else or EndIf; loop k begins at H<k> and ends at E<k>; a 64-bit division k goes to S<k> where 32 bits are enough, and goes on at
// W<k>. The body of a short If has no branch: what has an effect gets the If's predicate, and values are computed in any case. NVIDIA's
// assembler keeps a branch around an access that has a predicate of its own, and then every such access waits for the invocations to meet
// again.
#include "vyre/emit/ptx/emit.hpp"

#include <algorithm>

#include "vyre/emit/ptx/emitter.hpp"
#include "vyre/lower/target.hpp"

namespace vyre::ptx {
namespace {

constexpr std::string_view kAxes = "xyz";
// The most instructions of a short If, and the most accesses to memory among them.
constexpr std::uint32_t kMostInShort = 12, kMostAccessesInShort = 2;

// The instructions of each opcode: the `ptx` column of opcodes.def.
constexpr std::string_view kSpellings[] = {
#define VYRE_OPCODE(op, name, imm, flags, forms, spirv, wgsl, ptx) ptx,
#include "vyre/lower/opcodes.def"
};
static_assert(std::ranges::all_of(lower::kOpcodes, [](const lower::OpcodeInfo& row) {
  const auto index = static_cast<std::size_t>(&row - lower::kOpcodes);
  const auto op = static_cast<Opcode>(index);
  return lower::kPtxTarget.has(op) && !(kSpellings[index].empty() && (is_lanewise(op) || is_atomic(op)));
}));

}  // namespace

Emitter::Emitter(const Kernel& kernel, const Options& options)
    : kernel_(kernel), options_(options), values_(kernel.code.size()), lengths_(kernel.buffers.size()), buffers_(kernel.buffers.size()) {
  bindings_.workgroup_size = kernel.workgroup_size;
  const auto buffers = static_cast<std::uint32_t>(kernel.buffers.size());
  bindings_.counts = 8 * buffers;
  bindings_.first_group = bindings_.counts + (options.counted_grid ? 8 : 0);
  bindings_.first_length = bindings_.first_group + 12;
  bindings_.parameter_bytes = bindings_.first_length + 4 * buffers;
  lay_out();
}

Code Emitter::run() {
  if (bindings_.in_memory()) block_ = address_parameter(0);
  for (const std::uint8_t lanes : kernel_.variables) variables_.push_back(fresh_words(lanes));
  if (options_.counted_grid) leave_beyond_counts();
  zero_shared();
  zero_privates();
  for (std::uint32_t at = 0; at < kernel_.code.size(); ++at) {
    if (uses_.is_made(at)) instruction(at);
  }
  VYRE_ASSERT(loops_.empty());
  line("ret");
  return {header() + entry_ + body_ + "}\n", bindings_};
}

std::string Emitter::header() const {
  std::string text;
  const auto out = std::back_inserter(text);
  fmt::format_to(out, "// parameters: the address of buffer k at byte 8 * k");
  if (options_.counted_grid) fmt::format_to(out, ", that of three counts of workgroups at byte {}", bindings_.counts);
  fmt::format_to(out, ", the id of the first workgroup (x, y, z) at byte {},\n// the length of buffer k in elements at byte {} + 4 * k",
                 bindings_.first_group, bindings_.first_length);
  if (bindings_.in_memory()) fmt::format_to(out, "; {} bytes, whose address is the parameter", bindings_.parameter_bytes);
  fmt::format_to(out, ". Dynamic shared memory: {} bytes.\n", bindings_.shared_bytes);
  fmt::format_to(out, ".version 7.0\n.target sm_75\n.address_size 64\n\n");
  if (bindings_.shared_bytes != 0) fmt::format_to(out, ".extern .shared .align 16 .b8 workgroup_memory[];\n\n");
  const std::uint32_t parameter_bytes = bindings_.in_memory() ? 8 : bindings_.parameter_bytes;
  fmt::format_to(out, ".visible .entry {}(\n  .param .align 8 .b8 parameters[{}]\n)\n", kEntryPoint, parameter_bytes);
  const ir::WorkgroupSize& size = kernel_.workgroup_size;
  fmt::format_to(out, ".reqntid {}, {}, {}\n{{\n", size[0], size[1], size[2]);
  if (predicates_ != 0) fmt::format_to(out, "  .reg .pred %p<{}>;\n", predicates_);
  if (words_ != 0) fmt::format_to(out, "  .reg .b32 %r<{}>;\n", words_);
  if (addresses_ != 0) fmt::format_to(out, "  .reg .b64 %a<{}>;\n", addresses_);
  if (private_bytes_ != 0) fmt::format_to(out, "  .local .align 16 .b8 private_memory[{}];\n", private_bytes_);
  return text;
}

// --- What is loaded at the entry ---

Word Emitter::parameter(std::uint32_t offset) {
  const Word result = fresh();
  if (block_) {
    at_entry("ld.global.nc.u32 {}, [%a{}+{}]", text(result), *block_, offset);
  } else {
    at_entry("ld.param.u32 {}, [parameters+{}]", text(result), offset);
  }
  return result;
}

std::uint32_t Emitter::address_parameter(std::uint32_t offset) {
  const std::uint32_t result = fresh_address();
  if (block_) {
    at_entry("ld.global.nc.u64 %a{}, [%a{}+{}]", result, *block_, offset);
  } else {
    at_entry("ld.param.u64 %a{}, [parameters+{}]", result, offset);
  }
  at_entry("cvta.to.global.u64 %a{}, %a{}", result, result);
  return result;
}

Word Emitter::unknown_zero() {
  if (kernel_.buffers.empty()) return literal(0);  // then nothing that is computed is seen
  if (!unknown_zero_) {
    const Word upper = parameter(4);  // of the address of the first buffer, which is below 2^57
    unknown_zero_ = fresh();
    // Not as a shift: ptxas makes the sum of one and a constant a multiplication with a 64-bit summand, and where a branch writes two such
    // sums to one variable, it takes the first constant for both.
    at_entry("and.b32 {}, {}, {}", text(*unknown_zero_), text(upper), 0xFE000000u);
    at_entry("popc.b32 {}, {}", text(*unknown_zero_), text(*unknown_zero_));
  }
  return *unknown_zero_;
}

Word Emitter::negated_zero() {
  if (kernel_.buffers.empty()) return literal(0);
  if (!negated_zero_) {
    const Word zero = unknown_zero();
    negated_zero_ = fresh();
    at_entry("neg.s32 {}, {}", text(*negated_zero_), text(zero));
  }
  return *negated_zero_;
}

Word Emitter::unknown_ones() {
  if (kernel_.buffers.empty()) return literal(0xFFFFFFFF);
  if (!unknown_ones_) {
    const Word zero = unknown_zero();
    unknown_ones_ = fresh();
    at_entry("sub.u32 {}, {}, 1", text(*unknown_ones_), text(zero));
  }
  return *unknown_ones_;
}

Word Emitter::local_id(std::uint32_t axis) {
  if (kernel_.workgroup_size[axis] == 1) return literal(0);
  std::optional<Word>& known = local_ids_[axis];
  if (!known) {
    known = fresh();
    at_entry("mov.u32 {}, %tid.{}", text(*known), kAxes[axis]);
  }
  return *known;
}

Word Emitter::workgroup_id(std::uint32_t axis) {
  std::optional<Word>& known = workgroup_ids_[axis];
  if (!known) {
    const Word first = parameter(bindings_.first_group + 4 * axis), id = fresh();
    known = fresh();
    at_entry("mov.u32 {}, %ctaid.{}", text(id), kAxes[axis]);
    at_entry("add.u32 {}, {}, {}", text(*known), text(first), text(id));
  }
  return *known;
}

Word Emitter::invocation_id(std::uint32_t axis) {
  std::optional<Word>& known = invocation_ids_[axis];
  if (!known) {
    const Word group = workgroup_id(axis), local = local_id(axis);
    known = fresh();
    at_entry("mad.lo.u32 {}, {}, {}, {}", text(*known), text(group), kernel_.workgroup_size[axis], text(local));
  }
  return *known;
}

Word Emitter::length(std::uint32_t slot) {
  std::optional<Word>& known = lengths_[slot];
  if (!known) known = parameter(bindings_.first_length + 4 * slot);
  return *known;
}

// Whole workgroups leave, so no barrier waits for them.
void Emitter::leave_beyond_counts() {
  const std::uint32_t counts = address_parameter(bindings_.counts);
  for (std::uint32_t axis = 0; axis < 3; ++axis) {
    const Word count = fresh(), id = workgroup_id(axis);
    const std::uint32_t beyond = fresh_predicate();
    line("ld.global.nc.u32 {}, [%a{}+{}]", text(count), counts, 4 * axis);
    line("setp.ge.u32 %p{}, {}, {}", beyond, text(id), text(count));
    line("@%p{} ret", beyond);
  }
}

// --- Instructions ---

void Emitter::define_truth(std::uint32_t at, std::uint32_t predicate) {
  values_[at].predicate = predicate;
  if (!uses_.as(lower::Form::Bits, at)) return;
  values_[at].bits[0] = fresh();
  line("selp.u32 {}, 1, 0, %p{}", text(values_[at].bits[0]), predicate);
}

void Emitter::define_bits(std::uint32_t at, const Words& words) {
  values_[at].bits = words;
  if (!uses_.as(lower::Form::Truth, at)) return;
  values_[at].predicate = fresh_predicate();
  line("setp.ne.u32 %p{}, {}, 0", values_[at].predicate, text(words[0]));
}

void Emitter::instruction(std::uint32_t at) {
  const Instruction& code = kernel_.code[at];
  if (uses_.tests_truth(code)) {
    if (code.op == Opcode::Ne) return define_truth(at, predicate(code.a));
    const std::uint32_t result = fresh_predicate();
    line("not.pred %p{}, %p{}", result, predicate(code.a));
    return define_truth(at, result);
  }
  const std::string_view spelling = kSpellings[static_cast<std::size_t>(code.op)];
  if (!spelling.empty()) return spelled(at, spelling);
  own_instruction(at);
}

// Returns the operand of which the driver's compiler must not know what it could find out, if there is one, and the register that has it.
std::pair<ValueId, Word> Emitter::hide_operand(std::uint32_t at) {
  const bool shifts = !shifts_of_known_signs_.empty() && shifts_of_known_signs_[at];
  const bool inverts = !known_exclusive_ors_.empty() && uses_.forms(at).a == lower::Form::Bits;
  const ValueId known = shifts ? kernel_.code[at].a : inverts ? known_exclusive_ors_[at] : ValueId{};
  if (!known.valid()) return {};
  const Word hidden = fresh();
  // An or, because ptxas makes one instruction of a rotation and a sum, and loses the minus of what is rotated.
  line("{} {}, {}, {}", shifts ? "and.b32" : "or.b32", text(hidden), text(bits(known)), text(shifts ? unknown_ones() : unknown_zero()));
  return {known, hidden};
}

// An opcode whose instructions are written in opcodes.def, once for each lane.
void Emitter::spelled(std::uint32_t at, std::string_view spelling) {
  const Instruction& code = kernel_.code[at];
  const lower::Forms& forms = uses_.forms(at);
  const bool gives_truth = forms.result == lower::Form::Truth;
  const Element place = is_atomic(code.op) ? element(code) : Element{};
  const std::uint32_t predicate = gives_truth ? fresh_predicate() : 0;
  const Words words = gives_truth ? Words{} : fresh_words(code.lanes);
  const std::pair<ValueId, Word> hidden = hide_operand(at);
  if (!place.guard.empty()) line("mov.u32 {}, 0", text(words[0]));
  for (std::uint32_t lane = 0; lane < code.lanes; ++lane) {
    body_ += "  " + place.guard;
    const auto operand = [&](ValueId value, lower::Form form) {
      if (form == lower::Form::Truth) return fmt::format("%p{}", this->predicate(value));
      if (hidden.first.valid() && value.index == hidden.first.index) return text(hidden.second);
      const Word word = values_[value.index].bits[lane];
      return text(code.op == Opcode::Xor && word.is_literal && word.number == ~0u ? unknown_ones() : word);
    };
    std::string_view rest = spelling;
    for (std::size_t end; (end = rest.find_first_of("$;")) != std::string_view::npos;) {
      body_ += rest.substr(0, end);
      if (rest[end] == ';') {
        body_ += ";\n ";
        rest.remove_prefix(end + 1);
        continue;
      }
      switch (rest[end + 1]) {
        case 'd':
          body_ += gives_truth ? fmt::format("%p{}", predicate) : text(words[lane]);
          break;
        case 'a':
          body_ += operand(code.a, forms.a);
          break;
        case 'b':
          body_ += operand(code.b, forms.others);
          break;
        case 'c':
          body_ += operand(code.c, forms.others);
          break;
        case '1':
          body_ += text(unknown_ones());
          break;
        case 't':
          body_ += forms.a == lower::Form::Truth ? "pred" : "b32";
          break;
        case 's':
          body_ += code.shared ? "relaxed.cta.shared" : "relaxed.gpu.global";
          break;
        case 'm':
          body_ += place.address;
          break;
        default:
          VYRE_ASSERT(false);  // no such operand
      }
      rest.remove_prefix(end + 2);
    }
    body_ += rest;
    body_ += ";\n";
  }
  if (gives_truth) return define_truth(at, predicate);
  if (!joined_extremes_.empty() && joined_extremes_[at]) line("or.b32 {0}, {0}, {1}", text(words[0]), text(negated_zero()));
  define_bits(at, words);
}

// The opcodes without a spelling.
void Emitter::own_instruction(std::uint32_t at) {
  const Instruction& code = kernel_.code[at];
  switch (code.op) {
    case Opcode::Constant:
      return define_bits(at, {literal(code.imm)});
    case Opcode::WorkgroupId:
      return define_bits(at, {workgroup_id(code.imm)});
    case Opcode::LocalId:
      return define_bits(at, {local_id(code.imm)});
    case Opcode::InvocationId:
      return define_bits(at, {invocation_id(code.imm)});
    case Opcode::Length:
      return define_bits(at, {length(code.imm)});
    case Opcode::Lane:
      return define_bits(at, {values_[code.a.index].bits[code.imm]});
    case Opcode::Pack:
      if (code.lanes == 2) return define_bits(at, {bits(code.a), bits(code.b)});
      return define_bits(at, {bits(code.a), bits(code.b), bits(code.c), bits(code.d)});
    case Opcode::ReadVariable: {
      const Words words = fresh_words(code.lanes);
      for (std::uint32_t lane = 0; lane < code.lanes; ++lane) line("mov.u32 {}, {}", text(words[lane]), text(variables_[code.imm][lane]));
      return define_bits(at, words);
    }
    case Opcode::WriteVariable:
      return write_variable(code);
    case Opcode::LoadBuffer:
    case Opcode::LoadShared:
    case Opcode::LoadPrivate:
      return load(at);
    case Opcode::StoreBuffer:
    case Opcode::StoreShared:
    case Opcode::StorePrivate:
      return store(code);
    case Opcode::If:
      if (!is_short(at)) return line("@!%p{} bra X{}", predicate(code.a), kernel_.partner[at]);
      only_if_ = predicate(code.a);
      return;
    case Opcode::Else:
      line("bra X{}", kernel_.partner[at]);
      return label('X', at);
    case Opcode::EndIf:
      if (!only_if_) return label('X', at);
      only_if_.reset();
      return;
    case Opcode::Loop:
      return begin_loop(at);
    case Opcode::EndLoop:
      return end_loop();
    case Opcode::WideMulHigh:
      return define_bits(at, wide(code, "mul.hi.u64"));
    case Opcode::WideDiv:
    case Opcode::WideMod:
      return wide_divide(at);
    case Opcode::Barrier:
      return line("bar.sync 0");
    case Opcode::Return:
      return line("ret");
    case Opcode::Break:
      return line("bra E{}", loops_.back().at);
    default:
      VYRE_ASSERT(false);  // its row of opcodes.def has a spelling
  }
}

Words Emitter::wide(const Instruction& code, std::string_view name) {
  const Words result = fresh_words(2);
  std::array<std::uint32_t, 3> pairs{};
  for (std::uint32_t& pair : pairs) pair = fresh_address();
  const auto join = [&](std::uint32_t pair, const Words& words) { line("mov.b64 %a{}, {{{}, {}}}", pair, text(words[0]), text(words[1])); };
  join(pairs[0], values_[code.a.index].bits);
  join(pairs[1], values_[code.b.index].bits);
  line("{} %a{}, %a{}, %a{}", name, pairs[2], pairs[0], pairs[1]);
  line("mov.b64 {{{}, {}}}, %a{}", text(result[0]), text(result[1]), pairs[2]);
  return result;
}

// Numbers below 2^32 are divided as such, which takes a third of the time.
void Emitter::wide_divide(std::uint32_t at) {
  const Instruction& code = kernel_.code[at];
  const Words &a = values_[code.a.index].bits, &b = values_[code.b.index].bits, result = fresh_words(2);
  const std::string_view name = code.op == Opcode::WideDiv ? "div" : "rem";
  const std::uint32_t small = fresh_predicate();
  line("or.b32 {}, {}, {}", text(result[1]), text(a[1]), text(b[1]));
  line("setp.eq.u32 %p{}, {}, 0", small, text(result[1]));
  line("@%p{} bra S{}", small, at);
  const Words whole = wide(code, fmt::format("{}.u64", name));
  for (const std::uint32_t lane : {0u, 1u}) line("mov.u32 {}, {}", text(result[lane]), text(whole[lane]));
  line("bra W{}", at);
  label('S', at);
  line("{}.u32 {}, {}, {}", name, text(result[0]), text(a[0]), text(b[0]));
  label('W', at);
  define_bits(at, result);
}

bool Emitter::is_short(std::uint32_t at) const {
  const std::uint32_t end = kernel_.partner[at];
  std::uint32_t instructions = 0, accesses = 0;
  for (++at; at < end; ++at) {
    if (!uses_.is_made(at)) continue;
    const Opcode op = kernel_.code[at].op;
    // Loads of buffers would all be under way together, which takes registers for what may be skipped.
    if (jumps(op) || divides(op) || op == Opcode::Barrier || op == Opcode::LoadBuffer) return false;
    accesses += accesses_memory(op);
    if (++instructions > kMostInShort || accesses > kMostAccessesInShort) return false;
  }
  return kernel_.code[end].op == Opcode::EndIf;
}

void Emitter::write_variable(const Instruction& code) {
  for (std::uint32_t lane = 0; lane < kernel_.variables[code.imm]; ++lane) {
    const Word value = values_[code.a.index].bits[lane];
    if (value.is_literal) {
      line("{}add.u32 {}, {}, {}", only_if(), text(variables_[code.imm][lane]), text(unknown_zero()), value.number);
    } else {
      line("{}mov.u32 {}, {}", only_if(), text(variables_[code.imm][lane]), text(value));
    }
  }
}

// Turns are counted from 0, as spirv/control_flow.cpp says.
void Emitter::begin_loop(std::uint32_t at) {
  const Instruction& code = kernel_.code[at];
  const Word first = bits(code.a), turn = fresh();
  Word end = bits(code.b);
  if (!first.is_literal) {
    const std::uint32_t some = fresh_predicate();
    const Word turns = fresh();
    line("setp.lt.u32 %p{}, {}, {}", some, text(first), text(end));
    line("sub.u32 {}, {}, {}", text(turns), text(end), text(first));
    end = fresh();
    line("selp.b32 {}, {}, 0, %p{}", text(end), text(turns), some);
  }
  line("mov.u32 {}, {}", text(turn), first.is_literal ? text(first) : "0");
  label('H', at);
  const std::uint32_t done = fresh_predicate();
  line("setp.ge.u32 %p{}, {}, {}", done, text(turn), text(end));
  line("@%p{} bra E{}", done, at);
  Word value = turn;
  if (!first.is_literal) {
    value = fresh();
    line("add.u32 {}, {}, {}", text(value), text(first), text(turn));
  }
  define_bits(at, {value});
  loops_.push_back({at, turn});
}

void Emitter::end_loop() {
  const OpenLoop loop = loops_.back();
  loops_.pop_back();
  // The count is below the end here, so it does not wrap around.
  line("add.u32 {}, {}, 1", text(loop.turn), text(loop.turn));
  line("bra H{}", loop.at);
  label('E', loop.at);
}

std::string with_resident(std::string text, std::uint32_t workgroups) {
  const std::size_t size = text.find("\n.reqntid ");
  VYRE_ASSERT(size != std::string::npos);
  return text.insert(text.find('\n', size + 1) + 1, fmt::format(".minnctapersm {}\n", workgroups));
}

Code emit(const Kernel& kernel, const Options& options) { return Emitter(kernel, options).run(); }

}  // namespace vyre::ptx
