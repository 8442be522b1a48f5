// Binds vyre.lower, which translates a program to target code.
#include <fmt/format.h>

#include <optional>

#include "bindings/bindings.hpp"
#include "bindings/calls/call.hpp"
#include "bindings/convert/convert.hpp"
#include "bindings/program.hpp"
#include "vyre/base/error.hpp"
#if VYRE_HAS_SPIRV
#include "vyre/emit/spirv/emit.hpp"
#endif
#include "bindings/without_gil.hpp"
#include "vyre/emit/ptx/emit.hpp"
#include "vyre/emit/wgsl/emit.hpp"
#include "vyre/lower/lower.hpp"
#include "vyre/run/cpu/machine_code.hpp"

namespace vyre::python {
namespace {

enum class Target { Spirv, SpirvText, Wgsl, Ptx };

Target to_target(py::handle object) {
  const std::string where = "argument `target` of vyre.lower";
  const std::string name = to_text(object, where);
  if (name == "spirv") return Target::Spirv;
  if (name == "spirv-asm") return Target::SpirvText;
  if (name == "wgsl") return Target::Wgsl;
  if (name == "ptx") return Target::Ptx;
  reject(where, "\"spirv\", \"spirv-asm\", \"wgsl\", \"ptx\" or \"asm\"", object);
}

#if VYRE_HAS_SPIRV
// Returns the words as little-endian bytes, the form of a SPIR-V file.
std::string little_endian(const std::vector<std::uint32_t>& words) {
  std::string bytes;
  bytes.reserve(words.size() * 4);
  for (std::uint32_t word : words) {
    for (int shift = 0; shift < 32; shift += 8) bytes.push_back(static_cast<char>(word >> shift & 0xFFu));
  }
  return bytes;
}
#endif

std::string emit(const validate::ValidProgram& program, Target target, const run::Optimize& optimize) {
  if (target == Target::Ptx) return ptx::emit(lower::lower(program, optimize, lower::kPtxTarget)).text;
  const lower::Kernel kernel = lower::lower(program, optimize);
  if (target == Target::Wgsl) return wgsl::emit(kernel);
#if VYRE_HAS_SPIRV
  const std::vector<std::uint32_t> words = spirv::emit(kernel, {.addresses = optimize.addresses});
  return target == Target::Spirv ? little_endian(words) : spirv::disassemble(words);
#else
  throw LoweringError("this build of vyre has no SPIR-V. Fix: build it without -DVYRE_SPIRV=OFF.");
#endif
}

// The arguments that the functions below have in common, converted.
struct Source {
  validate::ValidProgram program;
  run::Optimize optimize;
};

Source to_source(py::handle program, py::handle optimize) {
  return {valid(to_program(program, "argument `program` of vyre.lower")),
          to_optimize(optimize, "argument `optimize` of vyre.lower").value_or(run::Optimize())};
}

// Returns the machine code as the tuple that vyre/_arrays/machine_code.py unpacks.
py::tuple as_tuple(const run::cpu::MachineCode& code) {
  py::list parts, constants;
  py::dict context;
  for (const auto& name : code.context) context[py::int_(name.offset)] = name.text;
  for (const std::uint32_t offset : code.constants) constants.append(offset);
  for (const auto& part : code.parts) parts.append(py::make_tuple(part.offset, lenient_str(part.text), part.line, part.label));
  return py::make_tuple(code.instructions, lenient_str(code.program), code.width, code.lanes,
                        py::bytes(reinterpret_cast<const char*>(code.code.data()), code.code.size()), parts, constants, context);
}

#if VYRE_HAS_SPIRV
std::string spirv_problem(std::string_view bytes) {
  if (bytes.size() % 4 != 0) throw ArgumentError("SPIR-V is whole words of 4 bytes. Fix: give what vyre.lower gave.");
  std::vector<std::uint32_t> words;
  for (std::size_t at = 0; at < bytes.size(); at += 4) {
    std::uint32_t word = 0;
    for (std::size_t k = 4; k-- > 0;) word = word << 8 | static_cast<unsigned char>(bytes[at + k]);
    words.push_back(word);
  }
  return spirv::validation_error(words);
}
#endif

}  // namespace

void bind_emit(py::module_& m) {
  m.attr("_tables")["speedups"] = rows_of(run::kSpeedups, [](const run::Speedup& row) { return py::make_tuple(row.name, row.meaning); });
  m.def(
      "_lower",
      [](py::handle program, py::handle target, py::handle optimize) -> py::object {
        const Source source = to_source(program, optimize);
        const Target kind = to_target(target);
        const std::string code = without_gil([&] { return emit(source.program, kind, source.optimize); });
        if (kind == Target::Spirv) return py::bytes(code);
        return lenient_str(code);
      },
      py::arg("program"), py::arg("target"), py::arg("optimize"));
  m.def(
      "_check_target", [](py::handle target) { to_target(target); }, py::arg("target"));
  m.def(
      "_machine_code",
      [](py::handle program, py::handle optimize, py::handle instructions) {
        const Source source = to_source(program, optimize);
        std::optional<std::string> name;
        if (!instructions.is_none()) {
          name = to_text(instructions, "argument `instructions` of vyre.lower");
        }
        return as_tuple(without_gil([&] { return run::cpu::machine_code(source.program, source.optimize, name); }));
      },
      py::arg("program"), py::arg("optimize"), py::arg("instructions"));
  // For tests. Returns the PTX, its bytes of workgroup memory, and the offset of the counts among its parameters (ptx::Bindings). With
  // `ways` above 1 the program is coarsened first; returns None if it cannot be.
  m.def(
      "_ptx",
      [](py::handle program, py::handle optimize, bool counted_grid, std::uint32_t ways) -> py::object {
        const Source source = to_source(program, optimize);
        const auto kernel = ways == 1 ? std::optional(lower::lower(source.program, source.optimize, lower::kPtxTarget))
                                      : lower::lower_coarsened(source.program, ways, source.optimize, lower::kPtxTarget);
        if (!kernel) return py::none();
        const ptx::Code code = ptx::emit(*kernel, {.counted_grid = counted_grid});
        return py::make_tuple(code.text, code.bindings.shared_bytes, code.bindings.counts);
      },
      py::arg("program"), py::arg("optimize"), py::arg("counted_grid") = false, py::arg("ways") = 1);
#if VYRE_HAS_SPIRV
  // For tests. Returns what SPIRV-Tools find wrong with a module; an empty string if it is valid.
  m.def(
      "_spirv_problem",
      [](const py::bytes& words) { return without_gil([bytes = std::string_view(words)] { return spirv_problem(bytes); }); },
      py::arg("words"));
#endif
}

}  // namespace vyre::python
