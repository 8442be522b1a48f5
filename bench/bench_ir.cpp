// Host-side cost against size: build, validate, optimise and lower, emit. Growth should be linear; the targets are
// 1 ms for 200 nodes and 300 ms for 100,000 nodes, build to SPIR-V.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <vector>

#include "support/programs/shapes.hpp"
#include "vyre/emit/spirv/emit.hpp"
#include "vyre/ir/handles/resolve.hpp"
#include "vyre/lower/lower.hpp"
#include "vyre/ops/standard.hpp"
#include "vyre/validate/validate.hpp"

namespace {

using namespace vyre;
using namespace vyre::shapes;
using ir::make_program;
using ir::Program;

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
