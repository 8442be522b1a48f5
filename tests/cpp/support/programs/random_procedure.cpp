#include "support/programs/random_procedure.hpp"

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "support/programs/random_program.hpp"
#include "support/programs/sample_programs.hpp"
#include "vyre/base/error.hpp"
#include "vyre/fuzz/random.hpp"
#include "vyre/ir/data_type.hpp"

namespace vyre::test {
namespace {

using namespace ir;

// Two arrays of one name could not be told apart.
std::string unique(const std::string& name, std::size_t index) { return index == 0 ? name : name + std::to_string(index); }

class Generator {
 public:
  explicit Generator(std::uint64_t seed) : random_(seed), builder_(awkward()) {}

  Procedure operator()(std::size_t steps, std::uint32_t levels) {
    for (std::uint64_t left = below(3); left > 0; --left) declare();
    for (std::uint64_t left = 2 + below(4); left > 0; --left) array();
    for (std::uint64_t left = 1 + below(2); left > 0; --left) programs_.push_back(random_program(random_.next(), 4));
    if (levels > 1) {
      for (std::uint64_t left = below(3); left > 0; --left)
        procedures_.push_back(random_procedure(random_.next(), 1 + steps / 3, levels - 1));
    }
    for (std::size_t left = steps; left > 0; --left) step();
    while (!open_.empty()) end();
    for (std::uint64_t left = below(3); left > 0; --left) builder_.result(any_array());
    return builder_.finish();
  }

 private:
  std::uint32_t below(std::size_t limit) { return random_.below(limit); }
  bool chance(std::size_t one_in) { return below(one_in) == 0; }
  const std::string& awkward() { return random_.pick(awkward_names()); }

  void declare() {
    static constexpr std::array kTypes = {DataType::U32, DataType::I32, DataType::U64, DataType::Bool};
    const std::string name = chance(3) ? "turn" : awkward();
    builder_.declare({name + std::to_string(numbers_++), kTypes[below(kTypes.size())]});
  }
  void array() {
    ArrayDecl decl;
    decl.name = unique(awkward(), axes_.size());
    decl.role = static_cast<ArrayRole>(below(kRoleNames.size()));
    decl.element = kTypes[below(kTypes.size())].type;
    decl.axes = 1 + below(3);
    if (decl.role != ArrayRole::Input && decl.role != ArrayRole::InOut) {
      for (std::uint32_t axis = 0; axis < decl.axes; ++axis) decl.shape.push_back(size());
    }
    decl.zeros = chance(3);
    if (decl.role == ArrayRole::Table) {
      std::vector<std::byte> bytes(below(70));
      for (std::byte& each : bytes) each = static_cast<std::byte>(random_.next());
      decl.contents = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
    }
    axes_.push_back(decl.axes);
    builder_.array(std::move(decl));
  }
  ArrayId any_array() { return {below(axes_.size())}; }

  SizeId leaf() {
    switch (below(5)) {
      case 0:
        if (numbers_ > 0) return builder_.number(below(numbers_));
        break;
      case 1:
        if (!axes_.empty()) {
          const ArrayId array = any_array();
          return builder_.length(array, below(axes_[array.index]));
        }
        break;
      case 2:
        return builder_.limit(static_cast<Limit>(below(kLimitNames.size())));
      case 3:
        if (turns_ > 0) return builder_.turn(below(turns_));
        break;
      default:
        break;
    }
    return builder_.literal(chance(3) ? random_.next() : below(5));
  }
  // Mostly recent ones, so that they grow deep.
  SizeId operand() {
    if (made_.empty() || chance(3)) return leaf();
    return chance(2) ? made_.back() : made_[below(made_.size())];
  }
  SizeId size() {
    const auto op = static_cast<SizeOp>(below(static_cast<std::uint64_t>(SizeOp::Select) + 1));
    if (operand_count(op) == 0) return operand();
    const SizeId a = operand(), b = operand(), c = operand();
    try {
      made_.push_back(builder_.apply(op, a, b, c));
    } catch (const ArgumentError&) {  // literals decide it
      return a;
    }
    return made_.back();
  }
  ArrayPart part() {
    ArrayPart part{any_array(), {}, {}, {}};
    if (chance(3)) part.view = kTypes[below(kTypes.size())].type;
    if (chance(3)) part.offset = size(), part.length = size();
    return part;
  }

  void end() {
    builder_.end();
    open_.pop_back();
  }
  void step() {
    switch (below(10)) {
      case 0: {
        const SizeId count = size();
        builder_.repeat(count, chance(3) ? std::optional(part()) : std::nullopt);
        ++turns_;
        open_.push_back(false);
        return;
      }
      case 1:
        builder_.when(size());
        open_.push_back(true);
        return;
      case 2:
        if (open_.empty() || !open_.back()) return;
        builder_.otherwise();
        open_.back() = false;
        return;
      case 3:
        if (!open_.empty()) end();
        return;
      case 4:
        return builder_.swap(any_array(), any_array());
      case 5:
        return builder_.clear(part());
      case 7:
        return builder_.require(size(), "\"a\"\n is wrong. Fix: write another.");
      case 6:
        if (procedures_.empty()) return;
        return invoke();
      default:
        return dispatch();
    }
  }
  void invoke() {
    Invoke step{.procedure = builder_.procedure(procedures_[below(procedures_.size())]), .arrays = {}, .numbers = {}};
    for (std::uint64_t left = below(3); left > 0; --left) step.arrays.push_back(part());
    for (std::uint64_t left = below(3); left > 0; --left) step.numbers.push_back(size());
    builder_.invoke(std::move(step));
  }
  void dispatch() {
    Dispatch step{.name = awkward(), .program = builder_.program(programs_[below(programs_.size())]), .bound = {}, .grid = {}};
    for (std::uint64_t left = below(4); left > 0; --left) {
      if (chance(2)) {
        step.bound.emplace_back(part());
        continue;
      }
      Words words;
      for (std::uint64_t count = below(3); count > 0; --count) words.push_back(size());
      step.bound.emplace_back(std::move(words));
    }
    for (SizeId& most : step.grid.most) most = size();
    if (chance(3)) step.grid.counts = part();
    step.grid.counts_invocations = chance(2);
    builder_.dispatch(std::move(step));
  }

  fuzz::Random random_;
  ProcedureBuilder builder_;
  std::uint32_t numbers_ = 0, turns_ = 0;
  std::vector<std::uint32_t> axes_;  // of each array
  std::vector<SizeId> made_;
  std::vector<Program> programs_;
  std::vector<Procedure> procedures_;
  std::vector<bool> open_;  // whether an open block is a When without an otherwise
};

}  // namespace

Procedure random_procedure(std::uint64_t seed, std::size_t steps, std::uint32_t levels) { return Generator(seed)(steps, levels); }

Procedure sample_procedure() {
  ProcedureBuilder inner("inner one");
  const ArrayId z = inner.array({"z", ArrayRole::InOut, DataType::U32, 1, {}, false, nullptr});
  inner.clear({z, {}, inner.number(inner.declare({"from", DataType::U32})), inner.literal(1)});
  ProcedureBuilder b("sample");
  const SizeId k = b.number(b.declare({"k", DataType::U32})), wide = b.number(b.declare({"turn7", DataType::U64}));
  const ArrayId x = b.array({"x", ArrayRole::Input, DataType::U32, 1, {}, false, nullptr});
  const ArrayId image = b.array({"an image", ArrayRole::InOut, DataType::Vec4U32, 2, {}, false, nullptr});
  const SizeId n = b.length(x, 0), half = b.apply(SizeOp::CeilDiv, n, b.literal(2)), one = b.literal(1);
  const SizeId limit = b.limit(Limit::WorkgroupMemory);
  const ArrayId y = b.array({"y", ArrayRole::Output, DataType::U32, 2, {half, b.length(image, 1)}, true, nullptr});
  const ArrayId a = b.array({"a", ArrayRole::Scratch, DataType::U32, 1, {half}, false, nullptr});
  const std::vector<std::byte> bytes(18, std::byte{0x1f});
  const auto contents = std::make_shared<const std::vector<std::byte>>(bytes);
  const ArrayId narrow = b.array({"narrow", ArrayRole::Table, DataType::U16, 1, {b.literal(9)}, false, contents});
  const ArrayId opaque = b.array({"opaque", ArrayRole::Table, DataType::Bytes, 1, {b.literal(18)}, false, contents});
  const std::uint32_t program = b.program(xor_program());
  const ArrayPart counts{a, DataType::U32, b.literal(0), b.literal(3)};
  b.dispatch({"xor",
              program,
              {ArrayPart{x, {}, {}, {}}, Words{k, wide}, ArrayPart{y, DataType::U64, half, b.apply(SizeOp::Sub, n, half)}},
              {{b.apply(SizeOp::Select, b.apply(SizeOp::Lt, k, n), half, one), one, one}, {}, false}});
  b.dispatch({"if", program, {}, {{limit, one, one}, counts, true}});
  b.dispatch({"", b.program(chain(3)), {ArrayPart{narrow, {}, {}, {}}, ArrayPart{opaque, {}, {}, {}}}, {{one, one, one}, counts, false}});
  const std::uint32_t turn = b.repeat(b.apply(SizeOp::Add, k, one));
  b.when(b.apply(SizeOp::Eq, b.turn(turn), half));
  b.swap(a, a);
  b.otherwise();
  b.clear({y, {}, {}, {}});
  b.end();
  b.end();
  b.invoke({b.procedure(inner.finish()), {ArrayPart{a, {}, {}, {}}}, {b.apply(SizeOp::CeilLog2, wide, {}, {})}});
  b.result(y);
  b.result(image);
  return b.finish();
}

}  // namespace vyre::test
