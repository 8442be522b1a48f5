#include "support/run_program.hpp"

#include "vyre/base/error.hpp"
#include "vyre/run/checks/checks.hpp"
#include "vyre/run/reference/reference.hpp"
#include "vyre/run/registry.hpp"

namespace vyre::test {

validate::ValidProgram valid(const ir::Program& program, const validate::Options& options) {
  validate::Verdict verdict = validate::validate(program, run::registered_ops(), options);
  if (!verdict.program) throw ValidationError(std::move(verdict.diagnostics));
  return *verdict.program;
}

std::vector<Words> run_program(run::Backend& backend, const validate::ValidProgram& program, std::vector<Words> arrays, run::Grid grid,
                               const run::RunOptions& options, const run::Optimize& prepare) {
  std::vector<run::BufferView> views;
  for (std::size_t slot = 0; slot < arrays.size(); ++slot) {
    const ir::BufferDecl& buffer = program.program().buffers()[program.bound()[slot].index];
    const std::span<std::byte> bytes = std::as_writable_bytes(std::span(arrays[slot]));
    views.push_back({bytes, run::buffer_length(buffer, bytes.size())});
  }
  run::check_call(program, views, grid);
  backend.prepare(program, std::nullopt, prepare)->run(views, grid, options);
  return arrays;
}

std::vector<Words> run_reference(const ir::Program& program, std::vector<Words> arrays, run::Grid grid, const validate::Options& options) {
  return run_program(*run::make_reference_backend(), valid(program, options), std::move(arrays), grid);
}

}  // namespace vyre::test
