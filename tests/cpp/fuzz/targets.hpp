// What each fuzz target does with its bytes. libFuzzer runs it on what it makes up (<target>_fuzz.cpp), and a plain test runs it on
// the corpus (corpus_test.cpp). It counts allocations: include it in exactly one file of a program.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "support/fakes/allocation_count.hpp"
#include "support/programs/random_program.hpp"
#include "vyre/base/error.hpp"
#include "vyre/emit/ptx/emit.hpp"
#include "vyre/emit/wgsl/emit.hpp"
#include "vyre/fuzz/generate.hpp"
#include "vyre/fuzz/operations.hpp"
#include "vyre/ir/bytes/wire.hpp"
#include "vyre/ir/text/parse.hpp"
#include "vyre/ir/text/print.hpp"
#include "vyre/ir/text/procedure_parse.hpp"
#include "vyre/ir/text/procedure_print.hpp"
#include "vyre/lower/lower.hpp"
#include "vyre/run/checks/checks.hpp"
#include "vyre/run/cpu/cpu.hpp"
#include "vyre/run/reference/reference.hpp"
#include "vyre/transform/passes.hpp"
#include "vyre/validate/procedures/valid_procedure.hpp"
#include "vyre/validate/validate.hpp"
#if VYRE_HAS_SPIRV
#include "vyre/emit/spirv/emit.hpp"
#include "vyre/ir/data_type.hpp"
#endif

namespace vyre::test::fuzz {

// A target's complaint. Nothing catches it under libFuzzer, which keeps the input then.
class Broken : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

inline void require(bool holds, const std::string& otherwise) {
  if (!holds) throw Broken(otherwise);
}

template <class Work>
void within(std::ptrdiff_t allowed, const char* what, std::size_t size, Work&& work) {
  const std::ptrdiff_t used = peak_bytes(work);
  require(used <= allowed, fmt::format("{} held {} bytes for {}, and {} are allowed", what, used, size, allowed));
}

inline std::optional<ir::Program> read(std::string_view input, bool text) {
  std::optional<ir::Program> program;
  within(allowed_bytes(input.size()), text ? "parse" : "from_bytes", input.size(), [&] {
    try {
      program = text ? ir::parse(input) : ir::from_bytes(std::as_bytes(std::span(input)));
    } catch (const ParseError&) {
    }
  });
  return program;
}

// Any text is a program or a ParseError, within the bound on memory, and a program prints as text that reads back as itself.
inline void parse(std::string_view input) {
  const auto program = read(input, true);
  if (!program) return;
  require(ir::parse(ir::to_text(*program)) == *program, "the printed program reads back as another one");
}

// Any bytes are a program or a ParseError, within the bound on memory; a program has these bytes and no others, and survives
// its text form too.
inline void from_bytes(std::string_view input) {
  const auto program = read(input, false);
  if (!program) return;
  require(ir::to_bytes(*program) == input, "the program has other bytes than it was read from");
  require(ir::parse(ir::to_text(*program)) == *program, "the printed program reads back as another one");
}

// The first byte says what the others are: a program's bytes, its text, or the choices that a maker of programs takes.
enum class Form : unsigned char { Bytes, Text, AnyProgram, ValidProgram, kCount };

inline std::optional<ir::Program> program_of(std::string_view input) {
  if (input.empty()) return std::nullopt;
  const auto form = static_cast<Form>(static_cast<unsigned char>(input.front()) % static_cast<unsigned char>(Form::kCount));
  input.remove_prefix(1);
  switch (form) {
    case Form::Bytes:
    case Form::Text:
      return read(input, form == Form::Text);
    case Form::AnyProgram:
      return random_program(vyre::fuzz::Random(input), 1 + input.size() / 4);
    default:
      return vyre::fuzz::generate(input, {.statements = static_cast<std::uint32_t>(1 + input.size() / 8)}).program;
  }
}

inline std::size_t size_of(const ir::Program& program) {
  return program.exprs().size() + program.nodes().size() + program.buffers().size();
}

// Every program has an answer: valid, or what is wrong with it. Memory grows with the program and with what there is to say.
inline validate::Verdict validated(const ir::Program& program) {
  validate::Verdict verdict;
  const std::ptrdiff_t used = peak_bytes([&] { verdict = validate::validate(program, vyre::fuzz::op_table()); });
  std::size_t said = 0;
  for (const Diagnostic& diagnostic : verdict.diagnostics)
    said += diagnostic.message.size() + diagnostic.hint.size() + diagnostic.place.path.size() + 500;
  const std::size_t allowed = 2000 * size_of(program) + 4 * said + (std::size_t{1} << 20);
  require(used <= static_cast<std::ptrdiff_t>(allowed),
          fmt::format("validate held {} bytes for a program of {} parts and {} bytes of diagnostics, and {} are allowed", used,
                      size_of(program), said, allowed));
  require(verdict.program.has_value() == verdict.diagnostics.empty(), "a program is valid, or it is said why not");
  return verdict;
}

inline void validate(std::string_view input) {
  const auto program = program_of(input);
  if (!program) return;
  const validate::Verdict verdict = validated(*program);
  require(validate::validate(ir::parse(ir::to_text(*program)), vyre::fuzz::op_table()).diagnostics == verdict.diagnostics,
          "the same program is judged differently the second time");
  ir::OpSpec op;
  op.id = "fuzz.body";
  op.function().body = *program;
  validate::validate_op(op, vyre::fuzz::op_table());
}

using Memory = std::vector<std::vector<std::byte>>;

// Every buffer after the backend has run the workgroups; nothing when that takes too long, or is more than the backend takes.
inline std::optional<Memory> run(run::Backend& backend, const validate::ValidProgram& program, run::Grid grid) {
  constexpr std::size_t kMostBytes = 1 << 20;
  Memory memory;
  std::vector<run::BufferView> views;
  std::size_t bytes = 0;
  for (const BufferId id : program.bound()) {
    const ir::BufferDecl& decl = program.program().buffers()[id.index];
    const std::size_t wanted = std::size_t{decl.count != 0 ? decl.count : 6} * std::max(ir::min_bytes(decl.element), 4u);
    bytes += wanted;
    if (bytes > kMostBytes) return std::nullopt;
    std::vector<std::byte>& own = memory.emplace_back(wanted);
    for (std::size_t k = 0; k < own.size(); k += 4) {
      const auto word = static_cast<std::uint32_t>((k * 2654435761u) >> (k % 3 == 0 ? 29 : 0));
      std::memcpy(own.data() + k, &word, 4);
    }
  }
  for (std::size_t slot = 0; slot < memory.size(); ++slot) {
    const ir::BufferDecl& decl = program.program().buffers()[program.bound()[slot].index];
    views.push_back({memory[slot], run::buffer_length(decl, memory[slot].size())});
  }
  run::RunOptions options;
  options.timeout = std::chrono::milliseconds(100);
  try {
    backend.prepare(program, std::nullopt)->run(views, grid, options);
  } catch (const DispatchTimeoutError&) {
    return std::nullopt;
  } catch (const CapabilityError&) {
    return std::nullopt;
  } catch (const DeviceMemoryError&) {
    return std::nullopt;
  }
  return memory;
}

// What a valid program is made into has the same meaning, and the code for devices is code that they take.
inline void whole_path(std::string_view input) {
  const auto program = program_of(input);
  if (!program) return;
  const validate::Verdict verdict = validated(*program);
  if (!verdict.program) return;

  std::optional<validate::ValidProgram> optimized;
  lower::Kernel kernel, plain, for_ptx;
  try {
    optimized = transform::optimize(*verdict.program);
    kernel = lower::lower(*verdict.program);
    plain = lower::lower(*verdict.program, {.passes = false});
    for_ptx = lower::lower(*verdict.program, {}, lower::kPtxTarget);
  } catch (const LoweringError&) {
    return;  // it outgrows the limits by its calls
  }
  require(!wgsl::emit(kernel).empty() && !wgsl::emit(plain).empty(), "no WGSL");
  require(ptx::emit(for_ptx).text.ends_with("  ret;\n}\n"), "no PTX");
#if VYRE_HAS_SPIRV
  for (const lower::Kernel* each : {&kernel, &plain}) {
    for (const bool check_loops : {false, true}) {
      const std::string problem = spirv::validation_error(spirv::emit(*each, {.check_loops = check_loops}));
      require(problem.empty(), "spirv-val: " + problem + "\n" + ir::to_text(*program));
    }
  }
#endif
  // One invocation after the other, in an order that passes keep, so that races make no difference.
  const auto reference = run::make_reference_backend();
  const auto before = run(*reference, *verdict.program, {2, 1, 1});
  const auto after = run(*reference, *optimized, {2, 1, 1});
  require(!before || !after || *before == *after, "the optimised program gives other bytes:\n" + ir::to_text(*program));
  // The cpu backend runs invocations in another order, so bytes are compared only for a single invocation, which cannot race.
  const auto cpu = run::make_cpu_backend({.threads = 1});
  run(*cpu, *verdict.program, {2, 1, 1});
  if (program->workgroup_size() != ir::WorkgroupSize{1, 1, 1}) return;
  const auto here = run(*cpu, *verdict.program, {1, 1, 1});
  const auto there = run(*reference, *verdict.program, {1, 1, 1});
  require(!here || !there || *here == *there, "the cpu backend gives other bytes:\n" + ir::to_text(*program));
}

// The first byte says whether the others are a procedure's bytes or its text. Either is a procedure or a ParseError, within the bound on
// memory; a procedure has an answer from the rules, and one that keeps them survives its text form.
inline void procedure(std::string_view input) {
  if (input.empty()) return;
  const bool is_text = static_cast<unsigned char>(input.front()) % 2 == static_cast<unsigned char>(Form::Text);
  input.remove_prefix(1);
  std::optional<ir::Procedure> read;
  within(static_cast<std::ptrdiff_t>(256 * input.size() + (std::size_t{1} << 20)), "reading a procedure", input.size(), [&] {
    try {
      read = is_text ? ir::parse_procedure(input) : ir::procedure_from_bytes(std::as_bytes(std::span(input)));
    } catch (const ParseError&) {
    }
  });
  if (!read) return;
  require(is_text || read->bytes() == input, "the procedure has other bytes than it was read from");
  const validate::ProcedureVerdict verdict = validate::validate(*read, vyre::fuzz::op_table());
  require(verdict.procedure.has_value() == verdict.diagnostics.empty(), "a procedure is valid, or it is said why not");
  const std::string text = ir::to_text(*read);
  // Bytes may name two arrays alike, which a rule refuses and a text cannot say.
  if (is_text || verdict.procedure) require(ir::parse_procedure(text) == *read, "the printed procedure reads back as another one");
}

struct Target {
  const char* name;
  void (*run)(std::string_view);
};
inline constexpr Target kTargets[] = {
    {"parse", parse}, {"from_bytes", from_bytes}, {"validate", validate}, {"whole_path", whole_path}, {"procedure", procedure}};

}  // namespace vyre::test::fuzz
