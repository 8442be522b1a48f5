// Valid procedures, planned and run from C++ without anything between.
#include "vyre/run/procedures/procedure_call.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "support/errors.hpp"
#include "support/places.hpp"
#include "support/run_program.hpp"
#include "vyre/base/error.hpp"
#include "vyre/ir/text/procedure_parse.hpp"
#include "vyre/run/backends.hpp"
#include "vyre/run/registry.hpp"

namespace vyre::test {
namespace {

using run::HostArray;
using run::Shape;

// y = x * times + k and z += 1, with the constants of a table, in an invocation.
constexpr std::string_view kText = R"(vyre 1
procedure "outer"
number times: u32
number k: bool
input x: u32[]
in_out z: u32[]
scratch a: u32[length(x)]
output y: u32[length(x)]
program 0 {
  vyre 1
  workgroup_size 64 1 1
  buffer x: read u32 binding 0
  buffer y: read_write u32 binding 1
  buffer numbers: uniform u32 binding 2
  y[gid.x] = (x[gid.x] * numbers[0]) + numbers[1]
}
procedure 7 {
  vyre 1
  procedure "inner"
  in_out z: u32[]
  table ones: u32[2] {
    00000001 00000001
  }
  program 0 {
    vyre 1
    workgroup_size 64 1 1
    buffer x: read u32 binding 0
    buffer y: read_write u32 binding 1
    y[gid.x] = y[gid.x] + x[gid.x]
  }
  dispatch add program 0 (ones, z) workgroups (1, 1, 1)
}
dispatch scale program 0 (x, a, words(times, k)) workgroups (ceil_div(length(x), 64), 1, 1)
when 0 < length(z) {
  invoke inner procedure 7 (z)
}
dispatch copy program 0 (a, y, words(1, 0)) workgroups (ceil_div(length(x), 64), 1, 1)
return y, z
)";

validate::ValidProcedure valid(std::string_view text) {
  validate::ProcedureVerdict verdict = validate::validate(ir::parse_procedure(text), run::registered_ops());
  if (!verdict.procedure) throw ValidationError(verdict.diagnostics);
  return *verdict.procedure;
}
HostArray array(const Words& words) {
  HostArray made{{words.size()}, std::vector<std::byte>(4 * words.size())};
  std::memcpy(made.bytes.data(), words.data(), made.bytes.size());
  return made;
}
Words words(const HostArray& array) {
  Words made(array.bytes.size() / 4);
  std::memcpy(made.data(), array.bytes.data(), array.bytes.size());
  return made;
}

TEST(ProcedureCall, runs_a_procedure_that_was_read_from_text) {
  const validate::ValidProcedure procedure = valid(kText);
  at_every_place([&](const Place& place) {
    const std::vector<HostArray> given = {array({1, 2, 3}), array({10, 20, 30})};
    const std::vector<std::uint64_t> numbers = {5, 1};
    const std::vector<HostArray> results = run::run(procedure, given, numbers, *place.backend, place.device.value_or(0));
    ASSERT_EQ(results.size(), 2u);
    EXPECT_EQ(words(results[0]), (Words{11, 21, 30}));
    EXPECT_EQ(words(results[1]), (Words{6, 11, 16}));
    EXPECT_EQ(results[1].shape, Shape{3});
    EXPECT_EQ(words(given[1]), (Words{10, 20, 30}));
  });
}

TEST(ProcedureCall, plans_once_for_other_numbers_in_words) {
  const validate::ValidProcedure procedure = valid(kText);
  run::Backend& cpu = *run::find_backend("cpu");
  const std::vector<Shape> shapes = {{2}, {0}};
  const auto planned = run::plan(procedure, shapes, std::vector<std::uint64_t>{0, 0}, cpu);
  EXPECT_EQ(planned->shapes(), (std::vector<Shape>{{2}, {0}, {2}}));
  for (const std::uint64_t times : {3, 4}) {
    std::vector<std::unique_ptr<run::Storage>> storages;
    std::vector<run::StorageView> views;
    for (const std::uint64_t bytes : {8, 0, 8}) {
      storages.push_back(cpu.allocate(0, bytes, true));
      views.push_back({storages.back().get(), 0, bytes});
    }
    const Words x = {1, 2};
    storages[0]->write(0, std::as_bytes(std::span(x)), {});
    planned->submit(views, std::vector<std::uint64_t>{times, 0}, {});
    Words y(2);
    storages[2]->read(0, std::as_writable_bytes(std::span(y)), {});
    EXPECT_EQ(y, (Words{static_cast<std::uint32_t>(times), static_cast<std::uint32_t>(2 * times)}));
  }
}

TEST(ProcedureCall, says_what_does_not_fit_the_procedure) {
  const validate::ValidProcedure procedure = valid(kText);
  run::Backend& cpu = *run::find_backend("cpu");
  const auto refusal = [&](const std::vector<HostArray>& arrays, const std::vector<std::uint64_t>& numbers) {
    return message_of([&] { run::run(procedure, arrays, numbers, cpu); });
  };
  const HostArray one = array({1});
  EXPECT_EQ(refusal({one, one}, {1, 1}), "no error");
  EXPECT_EQ(refusal({one}, {1, 1}), "the arrays of procedure `outer` must be 2, got 1. Fix: pass 2.");
  EXPECT_EQ(refusal({one, one}, {1}), "the numbers of procedure `outer` must be 2, got 1. Fix: pass 2.");
  EXPECT_EQ(refusal({one, one}, {std::uint64_t{1} << 32, 1}),
            "number `times` of procedure `outer` must be an integer from 0 to 4294967295, got 4294967296. Fix: pass an integer from 0 to "
            "4294967295.");
  EXPECT_EQ(refusal({one, one}, {1, 2}),
            "number `k` of procedure `outer` must be an integer from 0 to 1, got 2. Fix: pass an integer from 0 to 1.");
  EXPECT_EQ(refusal({{{1, 1}, one.bytes}, one}, {1, 1}),
            "array `x` of procedure `outer` must be one of 1 axes, got shape (1, 1). Fix: pass one of 1 axes.");
  EXPECT_EQ(refusal({{{2}, one.bytes}, one}, {1, 1}),
            "array `x` of procedure `outer` must be the 8 bytes of its shape (2,), got 4. Fix: pass the 8 bytes of its shape (2,).");
}

TEST(ProcedureCall, refuses_a_size_that_its_word_or_number_does_not_hold) {
  const auto text = [](const std::string& size) {
    const std::string_view old = "words(times, k)";
    std::string changed(kText);
    return changed.replace(changed.find(old), old.size(), "words(" + size + ", k)");
  };
  const HostArray one = array({1}), four = array({1, 2, 3, 4});
  const auto refusal = [&](const std::string& size, std::uint64_t times) -> std::string {
    std::string told;
    at_every_place([&](const Place& place) {
      try {
        run::run(valid(text(size)), std::vector{four, one}, std::vector<std::uint64_t>{times, 0}, *place.backend, place.device.value_or(0));
        told += "no error\n";
      } catch (const ArgumentError& error) {
        if (!told.ends_with(error.what() + std::string("\n"))) told += error.what() + std::string("\n");
      }
    });
    return told;
  };
  const std::string refused =
      "dispatch `scale` in procedure `outer` at steps[0]: word 0 of buffer `numbers` is 4294967296, and a u32 is at most 4294967295. Fix: "
      "write "
      "`(size % 4294967296)` for the low 32 bits of the size.\n";
  EXPECT_EQ(refusal("(length(x) * 1073741824)", 0), refused);
  EXPECT_EQ(refusal("(times * 4)", 1u << 30), refused);
  EXPECT_TRUE(refusal("((length(x) * 1073741824) % 4294967296)", 0).starts_with("no error\nno error\n"));
  EXPECT_TRUE(refusal("((times * 4) % 4294967296)", 1u << 30).starts_with("no error\nno error\n"));
  EXPECT_TRUE(refusal("((times * 4) - 1)", 1u << 30).starts_with("no error\nno error\n"));
}

// y = x + k, with the arrays that Convention V1 and V2 know.
constexpr std::string_view kPlain = R"(vyre 1
procedure "plain"
number k: u32
input x: u32[]
output y: u32[length(x)]
program 0 {
  vyre 1
  workgroup_size 64 1 1
  buffer x: read u32 binding 0
  buffer y: read_write u32 binding 1
  buffer numbers: uniform u32 binding 2
  y[gid.x] = x[gid.x] + numbers[0]
}
dispatch add program 0 (x, y, words(k)) workgroups (ceil_div(length(x), 64), 1, 1)
return y
)";

ir::OpSpec plain_op(std::optional<ir::Convention> asked = {}) {
  ir::OpSpec spec;
  spec.id = "test.plain";
  spec.version = 2;
  spec.work = ir::parse_procedure(kPlain);
  spec.asked = asked;
  return spec;
}

TEST(ProcedureCall, a_plan_records_the_convention_that_it_was_made_by) {
  const validate::ValidProcedure outer = valid(kText), plain = valid(kPlain);
  run::Backend& cpu = *run::find_backend("cpu");
  const std::vector<Shape> one = {{1}}, two = {{1}, {1}};
  const std::vector<std::uint64_t> number = {1}, numbers = {1, 1};
  // Its inputs x and z, its output y, two numbers and the scratch array a.
  EXPECT_EQ(run::plan(outer, two, numbers, cpu)->convention(), ir::Convention(ir::ConventionV3{2, 1, 2, 1}));
  EXPECT_EQ(run::plan(plain, one, number, cpu)->convention(), ir::Convention(ir::ConventionV3{1, 1, 1, 0}));
  for (const ir::Convention asked : {ir::Convention(ir::ConventionV1{}), ir::Convention(ir::ConventionV2{0})}) {
    const ir::OpSpec spec = plain_op(asked);
    EXPECT_EQ(run::plan(plain, one, number, cpu, 0, {}, &spec)->convention(), asked);
  }
  const ir::OpSpec own = plain_op();
  EXPECT_EQ(run::plan(plain, one, number, cpu, 0, {}, &own)->convention(), ir::Convention(ir::ConventionV3{1, 1, 1, 0}));
}

TEST(ProcedureCall, plans_of_other_conventions_are_other_plans) {
  run::Backend& cpu = *run::find_backend("cpu");
  run::ProcedurePlans plans;
  const std::vector<Shape> shapes = {{1}};
  const std::vector<std::uint64_t> numbers = {1};
  const auto planned = [&](const ir::OpSpec* operation) {
    return plans.find_or_plan(ir::parse_procedure(kPlain), shapes, numbers, run::place_of(cpu, 0, {}), {}, operation);
  };
  const ir::OpSpec first = plain_op(ir::ConventionV1{}), own = plain_op();
  EXPECT_EQ(planned(&first)->convention(), ir::Convention(ir::ConventionV1{}));
  EXPECT_EQ(planned(&first), planned(&first));
  EXPECT_NE(planned(&first), planned(&own));
  EXPECT_EQ(planned(nullptr), planned(&own));
  EXPECT_EQ(plans.made(), 2u);
}

// The cpu backend, if it took only Convention V1.
class OfTheFirstVersion : public run::Backend {
 public:
  std::string_view name() const override { return "first"; }
  std::vector<std::size_t> conventions() const override { return {1}; }
  std::vector<std::string> reasons_unavailable() override { return {}; }
  std::vector<run::DeviceInfo> devices() override { return cpu_.devices(); }
  std::unique_ptr<run::Executable> prepare(const validate::ValidProgram& program, std::optional<std::size_t> device,
                                           const run::Optimize& optimize, const run::RunOptions& waiting) override {
    return cpu_.prepare(program, device, optimize, waiting);
  }
  std::unique_ptr<run::Storage> allocate(std::optional<std::size_t> device, std::uint64_t bytes, bool zeroed) override {
    return cpu_.allocate(device, bytes, zeroed);
  }
  std::shared_ptr<run::Recording> record(run::CallsToRecord calls, const run::RunOptions& waiting,
                                         std::span<const run::StorageView> expected) override {
    return cpu_.record(std::move(calls), waiting, expected);
  }

 private:
  run::Backend& cpu_ = *run::find_backend("cpu");
};

TEST(ProcedureCall, a_convention_that_the_backend_does_not_take_is_refused_by_name) {
  const validate::ValidProcedure plain = valid(kPlain);
  OfTheFirstVersion backend;
  const std::vector<Shape> shapes = {{1}};
  const std::vector<std::uint64_t> numbers = {1};
  const auto refusal = [&](const ir::OpSpec* operation) {
    return message_of<CapabilityError>([&] { run::plan(plain, shapes, numbers, backend, 0, {}, operation); });
  };
  const ir::OpSpec first = plain_op(ir::ConventionV1{}), second = plain_op(ir::ConventionV2{0});
  EXPECT_EQ(refusal(&first), "no error");
  EXPECT_EQ(
      refusal(&second),
      "operation `test.plain@2` asks for Convention.V2(lookup_binding=0), and backend `first` takes V1. Fix: run it on another backend.");
  EXPECT_EQ(
      refusal(nullptr),
      "procedure `plain` asks for Convention.V3(inputs=1, outputs=1, params=1, scratch=0), and backend `first` takes V1. Fix: run it on "
      "another backend.");
}

// Whatever the bytes are: what is read and valid is planned, or refused by an error that says why.
TEST(ProcedureCall, survives_damaged_procedures) {
  const ir::Procedure procedure = ir::parse_procedure(kText);
  run::Backend& reference = *run::find_backend("reference");
  int planned = 0;
  for (std::size_t at = 0; at < procedure.bytes().size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string bytes = procedure.bytes();
      bytes[at] = static_cast<char>(bytes[at] ^ (1 << bit));
      try {
        const ir::Procedure read = ir::procedure_from_bytes(std::as_bytes(std::span(bytes)));
        const validate::ProcedureVerdict verdict = validate::validate(read, run::registered_ops());
        if (!verdict.procedure) continue;
        std::vector<Shape> shapes;
        for (const ir::ArrayId id : read.interface()) {
          const ir::ArrayDecl& array = read.arrays()[id];
          if (array.role != ir::ArrayRole::Output) shapes.push_back(Shape(array.axes, 3));
        }
        run::plan(*verdict.procedure, shapes, std::vector<std::uint64_t>(read.numbers().size(), 1), reference);
        ++planned;
      } catch (const Error& error) {
        EXPECT_NE(std::string_view(error.what()).find(". Fix: "), std::string_view::npos) << error.what();
      }
    }
  }
  EXPECT_GT(planned, 100);
}

}  // namespace
}  // namespace vyre::test
