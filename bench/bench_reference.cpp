// What the reference costs, and what checked execution adds, over programs of different kinds.
//
// Prints one row a program and size: milliseconds of processor time as the median of several calls, taken in turn, and their ratio.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <string>
#include <vector>

#include "vyre/base/assert.hpp"
#include "vyre/ir/handles/handle.hpp"
#include "vyre/ir/handles/resolve.hpp"
#include "vyre/run/checks/checked.hpp"
#include "vyre/run/checks/checks.hpp"
#include "vyre/run/reference/reference.hpp"
#include "vyre/run/registry.hpp"

namespace vyre {
namespace {

using ir::AtomicOp;
using ir::BinOp;
using ir::BufferDecl;
using ir::DataType;
using ir::ExprHandle;
using ir::NodeHandle;
namespace expr = ir::expr;
namespace node = ir::node;

ExprHandle u32(std::uint32_t value) { return expr::u32(value); }
ExprHandle op(BinOp op, ExprHandle a, ExprHandle b) { return expr::binary(op, std::move(a), std::move(b)); }
ExprHandle var(const char* name) { return expr::var(name); }

struct Case {
  std::string name;
  ir::Program program;
  std::vector<std::uint32_t> lengths;  // of its buffers, in order
  run::Grid grid;
};

// Nothing but memory.
Case copy(bool large) {
  const std::uint32_t words = large ? 1u << 20 : 1u << 12;
  return {fmt::format("copy of {} words", words),
          ir::make_program({BufferDecl::read("in", 0, DataType::U32), BufferDecl::read_write("out", 1, DataType::U32)}, {64, 1, 1},
                           std::vector{node::store("out", expr::gid(0), expr::load("in", expr::gid(0)))}),
          {words, words},
          {words / 64, 1, 1}};
}

// Reads and writes writable memory only, four words at a time.
Case saxpy(bool large) {
  const std::uint32_t vectors = large ? 1u << 17 : 1u << 10;
  const ExprHandle at = expr::gid(0);
  auto lane = [&](std::uint32_t k) { return op(BinOp::Add, op(BinOp::Mul, expr::lane(var("a"), k), u32(7)), expr::lane(var("b"), k)); };
  return {
      fmt::format("a * x + y in place, {} vec4", vectors),
      ir::make_program({BufferDecl::read_write("x", 0, DataType::Vec4U32), BufferDecl::read_write("y", 1, DataType::Vec4U32)}, {64, 1, 1},
                       std::vector{node::let("a", expr::load("x", at)), node::let("b", expr::load("y", at)),
                                   node::store("y", at, expr::pack(DataType::Vec4U32, {lane(0), lane(1), lane(2), lane(3)}))}),
      {vectors * 4, vectors * 4},
      {vectors / 64, 1, 1}};
}

// The most to remember for the least work: four lanes of writable memory an instruction.
Case move(bool large) {
  const std::uint32_t vectors = large ? 1u << 17 : 1u << 10;
  return {fmt::format("copy of {} vec4, both writable", vectors),
          ir::make_program({BufferDecl::read_write("x", 0, DataType::Vec4U32), BufferDecl::read_write("y", 1, DataType::Vec4U32)},
                           {64, 1, 1}, std::vector{node::store("y", expr::gid(0), expr::load("x", expr::gid(0)))}),
          {vectors * 4, vectors * 4},
          {vectors / 64, 1, 1}};
}

// Nothing but arithmetic.
Case loop(bool large) {
  const std::uint32_t words = large ? 16'384 : 256;
  return {fmt::format("256 ARX rounds of {} words", words),
          ir::make_program(
              {BufferDecl::read_write("out", 0, DataType::U32)}, {64, 1, 1},
              std::vector{node::let("x", expr::gid(0)),
                          node::loop("k", u32(0), u32(256),
                                     {node::assign("x", op(BinOp::BitXor, op(BinOp::RotateLeft, op(BinOp::Add, var("x"), var("k")), u32(7)),
                                                           var("x")))}),
                          node::store("out", expr::gid(0), var("x"))}),
          {words},
          {words / 64, 1, 1}};
}

// Workgroup memory and barriers: a tree of sums.
Case reduction(bool large) {
  constexpr std::uint32_t kSize = 256;
  const std::uint32_t groups = large ? 1024 : 8;
  const ExprHandle at = expr::lid(0);
  const ExprHandle half = op(BinOp::Shr, u32(kSize / 2), var("k"));
  return {
      fmt::format("reduction with barriers, {} workgroups", groups),
      ir::make_program({BufferDecl::read("in", 0, DataType::U32), BufferDecl::read_write("out", 1, DataType::U32),
                        BufferDecl::workgroup("tile", kSize, DataType::U32)},
                       {kSize, 1, 1},
                       std::vector{node::store("tile", at, expr::load("in", expr::gid(0))), node::barrier(),
                                   node::loop("k", u32(0), u32(8),
                                              {node::let("half", half),
                                               node::if_(op(BinOp::Lt, at, var("half")),
                                                         {node::store("tile", at,
                                                                      op(BinOp::Add, expr::load("tile", at),
                                                                         expr::load("tile", op(BinOp::Add, at, var("half")))))}),
                                               node::barrier()}),
                                   node::if_(op(BinOp::Eq, at, u32(0)), {node::store("out", expr::wid(0), expr::load("tile", u32(0)))})}),
      {kSize * groups, groups},
      {groups, 1, 1}};
}

// Atomics whose result is not used.
Case histogram(bool large) {
  const std::uint32_t words = large ? 1u << 18 : 1u << 12;
  return {
      fmt::format("histogram of {} words by atomics", words),
      ir::make_program({BufferDecl::read("in", 0, DataType::U32), BufferDecl::read_write("bins", 1, DataType::U32)}, {64, 1, 1},
                       std::vector{node::let("old", expr::atomic(AtomicOp::Add, "bins",
                                                                 op(BinOp::BitAnd, op(BinOp::Mul, expr::gid(0), u32(0x9E3779B1)), u32(255)),
                                                                 {}, expr::load("in", expr::gid(0))))}),
      {words, 256},
      {words / 64, 1, 1}};
}

// Atomics whose result decides what is written, which takes more schedules: the tickets are used, but not so that it shows.
Case tickets(bool large) {
  const std::uint32_t words = large ? 1u << 17 : 1u << 12;
  return {fmt::format("{} tickets of an atomic, used", words),
          ir::make_program({BufferDecl::read_write("next", 0, DataType::U32), BufferDecl::read_write("out", 1, DataType::U32)}, {64, 1, 1},
                           std::vector{node::let("ticket", expr::atomic(AtomicOp::Add, "next", u32(0), {}, u32(1))),
                                       node::store("out", var("ticket"), op(BinOp::Mul, var("ticket"), var("ticket")))}),
          {1, words},
          {words / 64, 1, 1}};
}

// Racing stores, each of which is a finding.
Case races(bool large) {
  const std::uint32_t words = large ? 1u << 18 : 1u << 12;
  return {fmt::format("{} stores, half of which race", words),
          ir::make_program({BufferDecl::read_write("out", 0, DataType::U32)}, {64, 1, 1},
                           std::vector{node::store("out", op(BinOp::Shr, expr::gid(0), u32(1)), expr::gid(0))}),
          {words / 2},
          {words / 64, 1, 1}};
}

// Of the processor: how busy the machine is does not count.
double milliseconds(const std::function<void()>& work) {
  const std::clock_t start = std::clock();
  work();
  return 1e3 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

void measure(const Case& c, int rounds) {
  const validate::Verdict verdict = validate::validate(c.program, run::registered_ops());
  VYRE_ASSERT(verdict.program.has_value());
  const auto executable = run::make_reference_backend()->prepare(*verdict.program, std::nullopt);
  std::vector<std::vector<std::uint32_t>> arrays;
  std::vector<run::BufferView> views;
  for (std::size_t slot = 0; slot < c.lengths.size(); ++slot) {
    arrays.emplace_back(c.lengths[slot]);
    const std::span<std::byte> bytes = std::as_writable_bytes(std::span(arrays.back()));
    views.push_back({bytes, run::buffer_length(c.program.buffers()[verdict.program->bound()[slot].index], bytes.size())});
  }
  std::vector<double> plain, checked;
  for (int round = 0; round < rounds; ++round) {
    // Some programs count on, so every run starts from zeros.
    const auto clear = [&] {
      for (std::vector<std::uint32_t>& array : arrays) std::fill(array.begin(), array.end(), 0);
    };
    clear();
    plain.push_back(milliseconds([&] { executable->run(views, c.grid, {}); }));
    clear();
    checked.push_back(milliseconds([&] { run::check(*verdict.program, views, c.grid, {}, {}); }));
  }
  fmt::print("| {} | {:.1f} | {:.1f} | {:.2f} |\n", c.name, median(plain), median(checked), median(checked) / median(plain));
}

}  // namespace
}  // namespace vyre

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 9;
  fmt::print("| program | run: ms | checked: ms | ratio |\n|---|---:|---:|---:|\n");
  for (const bool large : {false, true}) {
    for (const vyre::Case& c : {vyre::copy(large), vyre::saxpy(large), vyre::move(large), vyre::loop(large), vyre::reduction(large),
                                vyre::histogram(large), vyre::tickets(large), vyre::races(large)}) {
      vyre::measure(c, std::max(rounds, 1));
    }
  }
}
