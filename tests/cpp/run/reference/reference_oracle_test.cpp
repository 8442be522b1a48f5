// The reference against a slower and simpler one: values by expression in a map, variables by name in a map, no slots, no jumps
// computed ahead. What the reference's compiler places wrongly, this places differently.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "support/programs/valid_program.hpp"
#include "support/run_program.hpp"
#include "vyre/base/error.hpp"
#include "vyre/ir/semantics.hpp"
#include "vyre/ir/text/print.hpp"
#include "vyre/run/reference/reference.hpp"

namespace vyre::test {
namespace {

using ir::DataType;
using ir::Value;
using validate::Facts;

struct Memory {
  DataType element;
  Words words;

  std::size_t length() const { return words.size() / ir::lanes(element); }
  Value load(std::size_t index) const {
    Value value;
    if (index >= length()) return value;
    for (std::size_t lane = 0; lane < ir::lanes(element); ++lane) value.lanes[lane] = words[index * ir::lanes(element) + lane];
    if (element == DataType::Bool) value.lanes[0] = value.lanes[0] != 0;
    return value;
  }
  void store(std::size_t index, const Value& value) {
    if (index >= length()) return;
    for (std::size_t lane = 0; lane < ir::lanes(element); ++lane) words[index * ir::lanes(element) + lane] = value.lanes[lane];
  }
};

// Of a program or of an operation's body.
class PlainInvocation {
 public:
  enum class Stop { Barrier, End };

  PlainInvocation(const ir::Program& program, const Facts& facts, std::vector<Memory>& memory, std::array<std::uint32_t, 9> ids)
      : program_(program), facts_(facts), memory_(memory), ids_(ids) {}

  void set(LocalId local, const Value& value) { locals_[local.index] = value; }
  Value local(LocalId local) const { return locals_.at(local.index); }

  // Goes on where it stopped.
  Stop run() {
    while (at_.index < program_.nodes().size()) {
      const NodeId here = at_;
      ++at_.index;
      if (std::holds_alternative<ir::Barrier>(program_.node(here))) return Stop::Barrier;
      execute(here);
    }
    return Stop::End;
  }

 private:
  void execute(NodeId id) {
    std::map<std::uint32_t, Value> values;
    std::map<std::uint32_t, DataType> types;
    for (const validate::Step& step : facts_.steps_of(id)) {
      values[step.expr.index] = evaluate(step, values, types);
      types[step.expr.index] = step.type;
    }
    const auto value = [&](ExprId expr) { return values.at(expr.index); };
    const auto word = [&](ExprId expr) { return value(expr).lanes[0]; };
    const auto after = [](NodeId node) { return NodeId{node.index + 1}; };
    const validate::Statement& facts = facts_.statements[id];
    match(
        program_.node(id), [&](const ir::Let& let) { set(facts.local, value(let.value)); },
        [&](const ir::Assign& assign) { set(facts.local, value(assign.value)); },
        [&](const ir::Store& store) { memory_[facts.buffer.index].store(word(store.index), value(store.value)); },
        [&](const ir::If& branch) {
          if (word(branch.condition) == 0) at_ = after(branch.otherwise.valid() ? branch.otherwise : branch.end);
        },
        [&](const ir::Else& otherwise) { at_ = after(otherwise.end); },
        [&](const ir::Loop& loop) {
          set(facts.local, ir::scalar(word(loop.from)));
          bounds_[id.index] = word(loop.to);
          if (word(loop.from) >= word(loop.to)) at_ = after(loop.end);
        },
        [](const ir::Block&) {},
        [&](const ir::End& end) {
          if (!std::holds_alternative<ir::Loop>(program_.node(end.opener))) return;
          const LocalId variable = facts_.statements[end.opener].local;
          const std::uint32_t next = local(variable).lanes[0] + 1;
          if (next >= bounds_.at(end.opener.index)) return;
          set(variable, ir::scalar(next));
          at_ = after(end.opener);
        },
        [](const ir::Barrier&) {}, [&](const ir::Return&) { at_ = NodeId{static_cast<std::uint32_t>(program_.nodes().size())}; },
        [&](const ir::Break&) { at_ = after(end_of_loop_around(id)); });
  }

  NodeId end_of_loop_around(NodeId id) const {
    for (NodeId at{id.index + 1};; ++at.index) {
      const ir::End* end = std::get_if<ir::End>(&program_.node(at));
      if (end != nullptr && end->opener < id && std::holds_alternative<ir::Loop>(program_.node(end->opener))) return at;
    }
  }

  Value evaluate(const validate::Step& step, const std::map<std::uint32_t, Value>& values, const std::map<std::uint32_t, DataType>& types) {
    const auto value = [&](ExprId expr) { return values.at(expr.index); };
    const auto word = [&](ExprId expr) { return value(expr).lanes[0]; };
    return match(
        program_.expr(step.expr),
        [](const ir::Literal& literal) {
          return ir::Value{{literal.low, literal.high, 0, 0}};
        },
        [&](const ir::Var&) { return local(step.local); },
        [&](const ir::Load& load) { return memory_[step.buffer.index].load(word(load.index)); },
        [&](const ir::BufLen&) { return ir::scalar(static_cast<std::uint32_t>(memory_[step.buffer.index].length())); },
        [&](const ir::GridId& id) { return ir::scalar(ids_[static_cast<std::size_t>(id.kind) * 3 + id.axis]); },
        [&](const ir::Applied auto& it) {
          return ir::scalar(std::apply([&](auto... id) { return ir::evaluate(it.op, word(id)...); }, ir::applied_to(it)));
        },
        [&](const ir::Select& select) { return word(select.condition) != 0 ? value(select.if_true) : value(select.if_false); },
        [&](const ir::Cast& cast) {
          const DataType source = types.at(cast.value.index);
          const Value whole =
              ir::cast(ir::cast_kind(source, cast.target).value(), value(cast.value), ir::lanes(source), ir::lanes(cast.target));
          Value cut;  // no lanes beyond the target's
          for (std::uint32_t lane = 0; lane < ir::lanes(cast.target); ++lane) cut.lanes[lane] = whole.lanes[lane];
          return cut;
        },
        [&](const ir::Call& call) {
          const validate::ValidOp& op = *facts_.ops[step.op];
          PlainInvocation callee(op.body(), op.facts(), memory_, ids_);
          std::uint32_t k = 0;
          for (ExprId argument : program_.operands(call.arguments)) callee.set(LocalId{k++}, value(argument));
          callee.run();
          return callee.local(op.result());
        },
        [&](const ir::Lane& lane) { return ir::scalar(value(lane.value).lanes[lane.lane]); },
        [&](const ir::Pack& pack) {
          Value result;
          std::uint32_t lane = 0;
          for (ExprId part : program_.operands(pack.lanes)) result.lanes[lane++] = word(part);
          return result;
        },
        [&](const ir::Atomic& atomic) {
          const std::span<const ExprId> operands = program_.operands(atomic.operands);
          Memory& memory = memory_[step.buffer.index];
          const std::uint32_t index = word(operands.front());
          const Value old = memory.load(index);
          const std::uint32_t expected = atomic.has_expected ? word(operands[1]) : 0;
          memory.store(index, ir::scalar(ir::evaluate(atomic.op, old.lanes[0], expected, word(operands.back()))));
          return old;
        });
  }

  const ir::Program& program_;
  const Facts& facts_;
  std::vector<Memory>& memory_;
  std::array<std::uint32_t, 9> ids_;
  std::map<std::uint32_t, Value> locals_;
  std::map<std::uint32_t, std::uint32_t> bounds_;
  NodeId at_{0};
};

// Workgroups along x only.
std::vector<Words> run_plainly(const validate::ValidProgram& valid, const std::vector<Words>& arrays, std::uint32_t workgroups) {
  const ir::Program& program = valid.program();
  const ir::WorkgroupSize& size = program.workgroup_size();
  std::vector<Memory> memory;
  for (const ir::BufferDecl& buffer : program.buffers()) memory.push_back({buffer.element, {}});
  for (std::size_t slot = 0; slot < arrays.size(); ++slot) memory[valid.bound()[slot].index].words = arrays[slot];
  for (std::uint32_t group = 0; group < workgroups; ++group) {
    for (std::size_t index = 0; index < memory.size(); ++index) {
      const ir::BufferDecl& buffer = program.buffers()[index];
      if (buffer.access == ir::BufferAccess::Workgroup) memory[index].words.assign(buffer.count * ir::lanes(buffer.element), 0);
    }
    std::vector<PlainInvocation> invocations;
    for (std::uint32_t z = 0; z < size[2]; ++z) {
      for (std::uint32_t y = 0; y < size[1]; ++y) {
        for (std::uint32_t x = 0; x < size[0]; ++x) {
          invocations.emplace_back(program, valid.facts(), memory,
                                   std::array<std::uint32_t, 9>{group * size[0] + x, y, z, group, 0, 0, x, y, z});
        }
      }
    }
    for (bool waiting = true; waiting;) {
      std::size_t at_barrier = 0;
      for (PlainInvocation& invocation : invocations) at_barrier += invocation.run() == PlainInvocation::Stop::Barrier;
      EXPECT_TRUE(at_barrier == 0 || at_barrier == invocations.size());
      waiting = at_barrier > 0;
    }
  }
  std::vector<Words> results;
  for (BufferId id : valid.bound()) results.push_back(memory[id.index].words);
  return results;
}

TEST(ReferenceOracle, agrees_on_random_programs) {
  const auto reference = run::make_reference_backend();
  for (std::uint64_t seed = 0; seed < 600; ++seed) {
    const ir::Program program = random_valid_program(seed, 10 + seed % 60);
    const validate::Verdict verdict = validate::validate(program, sample_ops());
    ASSERT_TRUE(verdict.program) << "seed " << seed;
    std::vector<Words> arrays;
    for (BufferId id : verdict.program->bound()) {
      Words& words = arrays.emplace_back(6 * ir::lanes(program.buffers()[id.index].element));
      for (std::size_t k = 0; k < words.size(); ++k) words[k] = static_cast<std::uint32_t>((k * 2654435761u) >> (k % 3 == 0 ? 29 : 0));
    }
    ASSERT_EQ(run_program(*reference, *verdict.program, arrays, {2, 1, 1}), run_plainly(*verdict.program, arrays, 2))
        << "seed " << seed << "\n"
        << ir::to_text(program);
  }
}

}  // namespace
}  // namespace vyre::test
