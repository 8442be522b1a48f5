// Host-side cost against size: build, validate, optimise and lower, emit. Growth should be linear; the targets are
// 1 ms for 200 nodes and 300 ms for 100,000 nodes, build to SPIR-V.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <string>
#include <vector>

#include "vyre/emit/spirv/emit.hpp"
#include "vyre/ir/handle.hpp"
#include "vyre/lower/lower.hpp"
#include "vyre/ops/standard.hpp"
#include "vyre/validate/validate.hpp"

namespace {

using namespace vyre;
using namespace vyre::ir;

const std::vector<BufferDecl>& buffers() {
  static const std::vector<BufferDecl> decls{BufferDecl::read("a", 0, DataType::U32), BufferDecl::read_write("out", 1, DataType::U32)};
  return decls;
}

// Six nodes a step: a Let, a sum, a rotation, two variables and a literal.
std::vector<NodeHandle> straight_line(std::int64_t nodes) {
  std::vector<NodeHandle> entry{node::let("x0", expr::load("a", expr::gid(0)))};
  const std::int64_t steps = (nodes - 8) / 6;
  for (std::int64_t step = 1; step <= steps; ++step) {
    ExprHandle before = expr::var("x" + std::to_string(step - 1));
    entry.push_back(node::let("x" + std::to_string(step),
                              expr::binary(BinOp::Add, expr::binary(BinOp::RotateLeft, before, expr::u32(7)), expr::var("x0"))));
  }
  entry.push_back(node::store("out", expr::gid(0), expr::var("x" + std::to_string(steps))));
  return entry;
}

std::vector<NodeHandle> chain(std::int64_t nodes) {
  ExprHandle value = expr::load("a", expr::gid(0));
  for (std::int64_t count = 5; count < nodes; ++count) value = expr::unary(count % 2 == 0 ? UnOp::BitNot : UnOp::Popcount, value);
  return {node::store("out", expr::gid(0), value)};
}

std::vector<NodeHandle> empty_ifs(std::int64_t nodes) {
  const ExprHandle condition = expr::u32(1);
  std::vector<NodeHandle> entry;
  for (std::int64_t count = 0; count < nodes / 2; ++count) entry.push_back(node::if_(condition, {}));
  return entry;
}

std::vector<NodeHandle> guarded_stores(std::int64_t nodes) {
  const ExprHandle index = expr::gid(0), value = expr::u32(1);
  std::vector<NodeHandle> entry;
  for (std::int64_t count = 0; count < nodes / 3; ++count) entry.push_back(node::store("out", index, value));
  return entry;
}

std::vector<NodeHandle> distinct_literals(std::int64_t nodes) {
  ExprHandle value = expr::gid(0);
  for (std::int64_t count = 0; count < (nodes - 3) / 2; ++count) {
    value = expr::binary(BinOp::BitXor, value, expr::u32(static_cast<std::uint32_t>(count) * 2654435761u));
  }
  return {node::store("out", expr::gid(0), value)};
}

using Shape = std::vector<NodeHandle> (*)(std::int64_t);

template <Shape shape>
void build(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(make_program(buffers(), {64, 1, 1}, shape(state.range(0))));
  state.SetComplexityN(state.range(0));
}

template <Shape shape>
void validate(benchmark::State& state) {
  const Program program = make_program(buffers(), {64, 1, 1}, shape(state.range(0)));
  for (auto _ : state) {
    if (!validate::validate(program, ops::standard_ops()).program) state.SkipWithError("the program is not valid");
  }
  state.SetComplexityN(state.range(0));
}

template <Shape shape>
void lower_to_spirv(benchmark::State& state) {
  const Program program = make_program(buffers(), {64, 1, 1}, shape(state.range(0)));
  const auto valid = *validate::validate(program, ops::standard_ops()).program;
  for (auto _ : state) benchmark::DoNotOptimize(spirv::emit(lower::lower(valid)));
  state.SetComplexityN(state.range(0));
}

template <Shape shape>
void build_to_spirv(benchmark::State& state) {
  for (auto _ : state) {
    const Program program = make_program(buffers(), {64, 1, 1}, shape(state.range(0)));
    benchmark::DoNotOptimize(spirv::emit(lower::lower(*validate::validate(program, ops::standard_ops()).program)));
  }
  state.SetComplexityN(state.range(0));
}

void sizes(benchmark::internal::Benchmark* benchmark) {
  benchmark->Arg(200)->Arg(2'000)->Arg(20'000)->Arg(99'000)->Unit(benchmark::kMillisecond)->Complexity();
}
void largest(benchmark::internal::Benchmark* benchmark) { benchmark->Arg(98'000)->Unit(benchmark::kMillisecond); }

BENCHMARK(build<straight_line>)->Apply(sizes);
BENCHMARK(validate<straight_line>)->Apply(sizes);
BENCHMARK(lower_to_spirv<straight_line>)->Apply(sizes);
BENCHMARK(build_to_spirv<straight_line>)->Apply(sizes);
BENCHMARK(build_to_spirv<chain>)->Apply(largest);
BENCHMARK(build_to_spirv<empty_ifs>)->Apply(largest);
BENCHMARK(build_to_spirv<guarded_stores>)->Apply(largest);
BENCHMARK(build_to_spirv<distinct_literals>)->Apply(largest);

}  // namespace

BENCHMARK_MAIN();
