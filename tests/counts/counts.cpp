// The work of the host path, a case each, between marks that callgrind reads: guard.py runs this under it and compares counts.
//
//   counts [--only CASE] [--twice CASE]     --twice plants a case that does its work twice, which the guard must notice
#include <valgrind/callgrind.h>

#include <cstdio>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "support/programs/shapes.hpp"
#include "vyre/base/assert.hpp"
#include "vyre/emit/spirv/emit.hpp"
#include "vyre/emit/wgsl/emit.hpp"
#include "vyre/ir/bytes/wire.hpp"
#include "vyre/ir/handles/resolve.hpp"
#include "vyre/ir/text/parse.hpp"
#include "vyre/ir/text/print.hpp"
#include "vyre/lower/lower.hpp"
#include "vyre/ops/standard.hpp"
#include "vyre/run/checks/checks.hpp"
#include "vyre/run/cpu/cpu.hpp"
#include "vyre/run/reference/reference.hpp"
#include "vyre/transform/passes.hpp"
#include "vyre/validate/validate.hpp"

namespace vyre {
namespace {

using namespace shapes;

std::string only, twice;

// What `work` gives, and its instructions under that name.
template <class Work>
auto count(const std::string& name, const Work& work) {
  if (!only.empty() && only != name) return work();
  CALLGRIND_START_INSTRUMENTATION;
  CALLGRIND_ZERO_STATS;
  auto result = work();
  if (twice == name) result = work();
  CALLGRIND_DUMP_STATS_AT(name.c_str());
  CALLGRIND_STOP_INSTRUMENTATION;
  return result;
}

ir::Program program_of(std::vector<NodeHandle> entry) { return ir::make_program(buffers(), {64, 1, 1}, entry); }

validate::ValidProgram valid(const ir::Program& program) {
  validate::Verdict verdict = validate::validate(program, ops::standard_ops());
  VYRE_ASSERT(verdict.program.has_value());
  return *verdict.program;
}

void stages(std::int64_t nodes) {
  const std::string suffix = " " + std::to_string(nodes);
  const ir::Program program = count("build" + suffix, [&] { return program_of(straight_line(nodes)); });
  const validate::ValidProgram checked = count("validate" + suffix, [&] { return valid(program); });
  count("optimise" + suffix, [&] { return transform::optimize(checked); });
  const lower::Kernel kernel = count("lower" + suffix, [&] { return lower::lower(checked); });
  count("emit-spirv" + suffix, [&] { return spirv::emit(kernel); });
}

using Shape = std::vector<NodeHandle> (*)(std::int64_t);
void whole(const std::string& name, Shape shape, std::int64_t nodes) {
  count(name + " " + std::to_string(nodes), [&] { return spirv::emit(lower::lower(valid(program_of(shape(nodes))))); });
}

void forms() {
  const ir::Program program = program_of(straight_line(2'000));
  const lower::Kernel kernel = lower::lower(valid(program));
  count("emit-wgsl 2000", [&] { return wgsl::emit(kernel); });
  const std::string text = count("to-text 2000", [&] { return ir::to_text(program); });
  count("parse 2000", [&] { return ir::parse(text); });
  const std::string bytes = count("to-bytes 2000", [&] { return ir::to_bytes(program); });
  count("from-bytes 2000", [&] { return ir::from_bytes(std::as_bytes(std::span(bytes))); });
}

// out = a ^ 5: nothing but memory.
ir::Program xor_program() {
  return program_of({node::store("out", expr::gid(0), expr::binary(BinOp::BitXor, expr::load("a", expr::gid(0)), expr::u32(5)))});
}

// 64 rounds of add, xor, rotate: nothing but arithmetic.
ir::Program arx_program() {
  const ExprHandle x = expr::var("x");
  return program_of(
      {node::let("x", expr::load("a", expr::gid(0))),
       node::loop(
           "k", expr::u32(0), expr::u32(64),
           {node::assign("x", expr::binary(BinOp::BitXor, x,
                                           expr::binary(BinOp::RotateLeft, expr::binary(BinOp::Add, x, expr::var("k")), expr::u32(7))))}),
       node::store("out", expr::gid(0), x)});
}

// Two words and a barrier between them: what a workgroup costs.
ir::Program barrier_program() {
  const ExprHandle at = expr::gid(0);
  return program_of({node::store("out", at, expr::load("a", at)), node::barrier(),
                     node::store("out", at, expr::binary(BinOp::Add, expr::load("out", at), expr::u32(1)))});
}

void calls(run::Backend& backend) {
  constexpr std::uint32_t kElements = 1024;
  const std::string prefix(backend.name());
  std::vector<std::uint32_t> a(kElements, 3), out(kElements);
  const std::vector<run::BufferView> views{{std::as_writable_bytes(std::span(a)), kElements},
                                           {std::as_writable_bytes(std::span(out)), kElements}};
  const validate::ValidProgram line = valid(program_of(straight_line(2'000)));
  count(prefix + " prepare 2000", [&] { return backend.prepare(line, std::nullopt); });
  for (const auto& [name, program, elements] :
       {std::tuple{"xor", xor_program(), kElements}, std::tuple{"xor", xor_program(), 64u}, std::tuple{"arx", arx_program(), 64u},
        std::tuple{"barrier", barrier_program(), kElements}}) {
    const auto executable = backend.prepare(valid(program), std::nullopt);
    const run::Grid grid{elements / 64, 1, 1};
    executable->run(views, grid, {});  // as a later call finds it
    count(prefix + " call " + name + " " + std::to_string(elements), [&] { return executable->run(views, grid, {}), 0; });
  }
}

void check() {
  std::vector<std::uint32_t> a(1024), out(1024);
  const std::vector<run::BufferView> views{{std::as_writable_bytes(std::span(a)), 1024}, {std::as_writable_bytes(std::span(out)), 1024}};
  const validate::ValidProgram program = valid(xor_program());
  count("check-call", [&] { return run::check_call(program, views, {16, 1, 1}), 0; });
}

}  // namespace
}  // namespace vyre

int main(int argc, char** argv) {
  using namespace vyre;
  for (int k = 1; k + 1 < argc; k += 2) (std::strcmp(argv[k], "--only") == 0 ? only : twice) = argv[k + 1];
  if (RUNNING_ON_VALGRIND == 0) {
    std::fputs("counts: nothing is counted here. Fix: run tests/counts/guard.py, which runs this under callgrind.\n", stderr);
    return 2;
  }
  // What is made once, the first program makes.
  spirv::emit(lower::lower(valid(program_of(straight_line(200)))));
  for (const std::int64_t nodes : {200, 2'000, 99'000}) stages(nodes);
  for (const std::int64_t nodes : {2'000, 12'000}) {
    whole("chain", chain, nodes);
    whole("empty-ifs", empty_ifs, nodes);
    whole("guarded-stores", guarded_stores, nodes);
    whole("distinct-literals", distinct_literals, nodes);
    const validate::ValidProgram copied = valid(program_of(copies(nodes)));
    count("optimise-copies " + std::to_string(nodes), [&] { return transform::optimize(copied); });
  }
  forms();
  check();
  calls(*run::make_reference_backend());
  // The instructions that every x86-64 has, and no second thread: the same counts on every machine.
  calls(*run::make_cpu_backend({.threads = 1, .instructions = "baseline"}));
  return 0;
}
