// Divergence spreads: from a value to what is computed from it, from a condition or a bound to the statements that it guards, and
// from an assigned value, or from the control flow around an assignment, to the variable. A Break that only some invocations take makes
// its whole Loop divergent, because the others run on without them. So divergence is what can be reached from the divergent
// sources in a graph of values, variables and guarding statements, found in time linear in the graph, loops included.
#include "vyre/validate/uniformity.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "vyre/base/overloaded.hpp"

namespace vyre::validate {
namespace {

// The vertices: steps first, then locals, then statements (a statement stands for the control flow inside it).
class Divergence {
 public:
  explicit Divergence(const Gathered& program) : program_(program), graph_(*program.program) {
    locals_at_ = static_cast<std::uint32_t>(program.facts.steps.size());
    nodes_at_ = locals_at_ + static_cast<std::uint32_t>(program.facts.locals.size());
    divergent_.resize(nodes_at_ + graph_.nodes().size());
    link();
    spread();
  }

  bool control(NodeId opener) const { return divergent_[vertex(opener)]; }

  // Whether it is the statement's own condition or bounds that differ, and not only what is around it.
  bool decides(NodeId opener) const {
    const Roots& roots = program_.roots[opener];
    return (roots.first.valid() && divergent_[vertex(roots.first)]) || (roots.second.valid() && divergent_[vertex(roots.second)]);
  }

 private:
  std::uint32_t vertex(StepId id) const { return id.index; }
  std::uint32_t vertex(LocalId id) const { return locals_at_ + id.index; }
  std::uint32_t vertex(NodeId id) const { return nodes_at_ + id.index; }

  // Visits edges twice: to count them, and to put them in place.
  void link() {
    begin_.resize(divergent_.size() + 1);
    for_each_edge([&](std::uint32_t from, std::uint32_t) { ++begin_[from + 1]; });
    for (std::size_t k = 1; k < begin_.size(); ++k) begin_[k] += begin_[k - 1];
    targets_.resize(begin_.back());
    std::vector<std::uint32_t> next(begin_.begin(), begin_.end() - 1);
    for_each_edge([&](std::uint32_t from, std::uint32_t to) { targets_[next[from]++] = to; });
  }

  template <class Edge>
  void for_each_edge(Edge&& edge) const {
    for (std::uint32_t index = 0; index < program_.facts.steps.size(); ++index) {
      const StepId id{index};
      for (StepId operand : program_.operands(id)) edge(vertex(operand), vertex(id));
      if (program_.step(id).local.valid()) edge(vertex(program_.step(id).local), vertex(id));
    }
    std::vector<NodeId> open, loops;
    for (std::uint32_t index = 0; index < graph_.nodes().size(); ++index) {
      const NodeId id{index};
      const LocalId local = program_.facts.statements[id].local;
      const Roots& roots = program_.roots[id];
      auto enter = [&] {
        if (!open.empty()) edge(vertex(open.back()), vertex(id));
        open.push_back(id);
      };
      match(
          graph_.node(id),
          [&](const ir::Let&) {
            if (local.valid()) edge(vertex(roots.first), vertex(local));
          },
          [&](const ir::Assign&) {
            if (!local.valid()) return;
            edge(vertex(roots.first), vertex(local));
            if (!open.empty()) edge(vertex(open.back()), vertex(local));
          },
          [](const ir::Store&) {},
          [&](const ir::If&) {
            edge(vertex(roots.first), vertex(id));
            enter();
          },
          [](const ir::Else&) {},
          [&](const ir::Loop&) {
            for (StepId bound : {roots.first, roots.second}) {
              edge(vertex(bound), vertex(id));
              if (local.valid()) edge(vertex(bound), vertex(local));
            }
            enter();
            loops.push_back(id);
          },
          [&](const ir::Block&) { enter(); },
          [&](const ir::End&) {
            if (!loops.empty() && loops.back() == open.back()) loops.pop_back();
            open.pop_back();
          },
          [](const ir::Barrier&) {}, [](const ir::Return&) {},
          [&](const ir::Break&) {
            if (!loops.empty() && loops.back() != open.back()) edge(vertex(open.back()), vertex(loops.back()));
          });
    }
  }

  // Divergent whatever its operands are. What an earlier error hides counts as uniform.
  bool is_source(StepId id) const {
    const Step& step = program_.step(id);
    const ir::Expr& expr = graph_.expr(step.expr);
    if (std::holds_alternative<ir::Atomic>(expr)) return true;
    if (std::holds_alternative<ir::Load>(expr) && step.buffer.valid()) return ir::writable(program_.buffer(step.buffer).access);
    if (const ir::GridId* grid = std::get_if<ir::GridId>(&expr)) {
      return grid->kind != ir::GridIdKind::Workgroup && grid->axis < 3 && graph_.workgroup_size()[grid->axis] > 1;
    }
    return false;
  }

  void spread() {
    std::vector<std::uint32_t> work;
    auto mark = [&](std::uint32_t vertex) {
      if (divergent_[vertex]) return;
      divergent_[vertex] = true;
      work.push_back(vertex);
    };
    for (std::uint32_t index = 0; index < program_.facts.steps.size(); ++index) {
      if (is_source(StepId{index})) mark(index);
    }
    while (!work.empty()) {
      const std::uint32_t from = work.back();
      work.pop_back();
      for (std::uint32_t k = begin_[from]; k < begin_[from + 1]; ++k) mark(targets_[k]);
    }
  }

  const Gathered& program_;
  const ir::Program& graph_;
  std::uint32_t locals_at_ = 0, nodes_at_ = 0;
  std::vector<bool> divergent_;
  std::vector<std::uint32_t> begin_, targets_;  // the edges of vertex v are targets_[begin_[v] .. begin_[v + 1]]
};

// A Return that only a part of a workgroup may take, and the statement that decides it. Both are invalid for none. Where a Break decides
// it, `broken` is that, and `loop` the Loop that it leaves.
struct Left {
  NodeId returned, guard;
  NodeId broken{}, loop{};
};

// An If, Loop or Block that is open, and the outermost one, itself included, whose condition or bounds differ in a workgroup. `broken` is
// the Break by which only a part leaves the outermost Loop that has one, `loop`.
struct Opened {
  NodeId id, guard, broken, loop;
  Left at_start, after_then;

  Left left_by(NodeId returned) const { return {returned, guard, broken, loop}; }
};

// By Loop: the first Break in it that only a part of a workgroup may take.
std::vector<NodeId> breaks_of_some(const ir::Program& program, const Divergence& divergence) {
  std::vector<NodeId> result(program.nodes().size());
  std::vector<NodeId> open, loops;
  for (std::uint32_t index = 0; index < program.nodes().size(); ++index) {
    const NodeId id{index};
    const ir::Node& node = program.node(id);
    const bool loop = std::holds_alternative<ir::Loop>(node);
    if (loop) loops.push_back(id);
    if (loop || std::holds_alternative<ir::If>(node) || std::holds_alternative<ir::Block>(node)) open.push_back(id);
    if (std::holds_alternative<ir::End>(node)) {
      if (!loops.empty() && loops.back() == open.back()) loops.pop_back();
      open.pop_back();
    }
    if (!std::holds_alternative<ir::Break>(node) || loops.empty() || loops.back() == open.back()) continue;
    NodeId& first = result[loops.back().index];
    if (!first.valid() && divergence.control(open.back())) first = id;
  }
  return result;
}

Opened opened(NodeId id, const std::vector<Opened>& around, const Divergence& divergence, const std::vector<NodeId>& breaks,
              const Left& left = {}) {
  const NodeId guard = around.empty() ? NodeId{} : around.back().guard;
  Opened result{id, guard, {}, {}, left, left};
  if (!around.empty()) std::tie(result.broken, result.loop) = std::tie(around.back().broken, around.back().loop);
  if (!guard.valid() && divergence.decides(id)) result.guard = id;
  if (!result.broken.valid() && breaks[id.index].valid()) std::tie(result.broken, result.loop) = std::pair(breaks[id.index], id);
  return result;
}

// For each Loop, the Return under divergent control flow that stands in it: then the barriers of its next turn are too late.
std::vector<Left> loops_left_by_some(const ir::Program& program, const Divergence& divergence, const std::vector<NodeId>& breaks) {
  std::vector<Left> result(program.nodes().size());
  std::vector<Opened> open;
  for (std::uint32_t index = 0; index < program.nodes().size(); ++index) {
    const NodeId id{index};
    const ir::Node& node = program.node(id);
    const auto leave = [&](const Left& left) {
      if (!open.empty() && !result[open.back().id.index].returned.valid()) result[open.back().id.index] = left;
    };
    if (std::holds_alternative<ir::End>(node)) {
      const Left left = result[open.back().id.index];
      open.pop_back();
      if (left.returned.valid()) leave(left);
    } else if (std::holds_alternative<ir::Return>(node)) {
      if (!open.empty() && divergence.control(open.back().id)) leave(open.back().left_by(id));
    } else if (std::holds_alternative<ir::If>(node) || std::holds_alternative<ir::Loop>(node) || std::holds_alternative<ir::Block>(node)) {
      open.push_back(opened(id, open, divergence, breaks));
    }
  }
  return result;
}

}  // namespace

std::vector<DivergentBarrier> divergent_barriers(const Gathered& gathered) {
  const ir::Program& program = *gathered.program;
  const auto& size = program.workgroup_size();
  // An axis of 0 is V003's; what it will be is not known, so it counts as 1.
  const bool alone = std::all_of(size.begin(), size.end(), [](std::uint32_t axis) { return axis <= 1; });
  if (alone || gathered.nodes<ir::Barrier>().empty()) return {};

  const Divergence divergence(gathered);
  const std::vector<NodeId> breaks = breaks_of_some(program, divergence);
  const std::vector<Left> left_by_some = loops_left_by_some(program, divergence, breaks);
  // The Return that a part of the workgroup may have taken before: on the way here, when the open statement began, and at the end of
  // its then branch.
  Left left;
  std::vector<Opened> open;
  std::vector<DivergentBarrier> result;
  for (std::uint32_t index = 0; index < program.nodes().size(); ++index) {
    const NodeId id{index};
    match(
        program.node(id), [](const ir::Let&) {}, [](const ir::Assign&) {}, [](const ir::Store&) {},
        [&](const ir::If&) { open.push_back(opened(id, open, divergence, breaks, left)); },
        [&](const ir::Else&) {
          open.back().after_then = left;
          left = open.back().at_start;
        },
        [&](const ir::Loop&) {
          if (!left.returned.valid()) left = left_by_some[index];
          open.push_back(opened(id, open, divergence, breaks, left));
        },
        [&](const ir::Block&) { open.push_back(opened(id, open, divergence, breaks, left)); },
        [&](const ir::End&) {
          if (!left.returned.valid()) left = open.back().after_then;
          open.pop_back();
        },
        [&](const ir::Barrier&) {
          if (!open.empty() && divergence.control(open.back().id)) {
            result.push_back({id, open.back().guard, {}, open.back().broken, open.back().loop});
          } else if (left.returned.valid()) {
            result.push_back({id, left.guard, left.returned, left.broken, left.loop});
          }
        },
        [&](const ir::Return&) {
          const bool by_some = !open.empty() && divergence.control(open.back().id);
          if (by_some && !left.returned.valid()) left = open.back().left_by(id);
        },
        [](const ir::Break&) {});
  }
  return result;
}

}  // namespace vyre::validate
