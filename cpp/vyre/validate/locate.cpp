// Writes paths and source places, for what is reported only: one walk over the statements, and one over the expressions of each
// statement in which something is reported.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "vyre/base/assert.hpp"
#include "vyre/base/overloaded.hpp"
#include "vyre/ir/ops.hpp"
#include "vyre/validate/report.hpp"

namespace vyre::validate {
namespace {

// Parts kept at either end of a deep path.
constexpr std::uint32_t kKept = 8;
constexpr std::uint32_t kNoIndex = ~0u;

struct Part {
  const char* label = "";
  std::uint32_t index = kNoIndex;
};

void write(std::string& path, const Part& part) {
  if (!path.empty() && !path.ends_with('.')) path += '.';
  path += part.label;
  if (part.index != kNoIndex) fmt::format_to(std::back_inserter(path), "[{}]", part.index);
}

template <class Visit>
void for_each_labelled_root(const ir::Node& node, Visit&& visit) {
  match(
      node, [&](const ir::Let& let) { visit(let.value, "value"); }, [&](const ir::Assign& assign) { visit(assign.value, "value"); },
      [&](const ir::Store& store) {
        visit(store.index, "index");
        visit(store.value, "value");
      },
      [&](const ir::If& branch) { visit(branch.condition, "condition"); }, [](const ir::Else&) {},
      [&](const ir::Loop& loop) {
        visit(loop.from, "from");
        visit(loop.to, "to");
      },
      [](const ir::Block&) {}, [](const ir::End&) {}, [](const ir::Barrier&) {}, [](const ir::Return&) {}, [](const ir::Break&) {});
}

Part label(const ir::Expr& expr, std::uint32_t k) {
  auto only = [](const char* text) { return Part{text}; };
  return match(
      expr, [&](const ir::Literal&) { return only(""); }, [&](const ir::Var&) { return only(""); },
      [&](const ir::Load&) { return only("index"); }, [&](const ir::BufLen&) { return only(""); },
      [&](const ir::GridId&) { return only(""); }, [&](const ir::Applied auto& it) { return only(ir::info(it.op).names[k].data()); },
      [&](const ir::Cast&) { return only("value"); },
      [&](const ir::Call&) {
        return Part{"arguments", k};
      },
      [&](const ir::Lane&) { return only("value"); },
      [&](const ir::Pack&) {
        return Part{"lanes", k};
      },
      [&](const ir::Atomic& atomic) {
        return only(k == 0 ? "index" : k == 1 && atomic.has_expected ? "expected" : "value");
      });
}

// How one statement first reaches each of its expressions.
class OperandPaths {
 public:
  explicit OperandPaths(const Gathered& gathered) : gathered_(gathered) {}

  void enter(NodeId id) {
    if (id == statement_) return;
    statement_ = id;
    reached_.resize(gathered_.program->exprs().size());
    for_each_labelled_root(gathered_.program->node(id), [&](ExprId root, const char* text) { walk(root, text); });
  }

  void append(std::string& path, ExprId id) const {
    const Reached& last = reached_[id];
    if (last.depth <= 2 * kKept) return append_last(path, id, last.depth);
    append_last(path, last.anchor, kKept);
    path += "...";
    append_last(path, id, kKept);
  }

 private:
  struct Reached {
    NodeId statement;
    ExprId user;    // invalid for a root
    ExprId anchor;  // itself, or its ancestor at depth kKept
    std::uint32_t depth = 0;
    Part part;
  };
  struct Frame {
    ExprId expr;
    ExprId user;
    Part part;
  };

  // The last `count` parts of the path of `id`.
  void append_last(std::string& path, ExprId id, std::uint32_t count) const {
    std::array<Part, 2 * kKept> parts;
    for (std::uint32_t k = count; k > 0; --k, id = reached_[id].user) parts[k - 1] = reached_[id].part;
    for (std::uint32_t k = 0; k < count; ++k) write(path, parts[k]);
  }

  void walk(ExprId root, const char* text) {
    stack_.push_back({root, {}, {text}});
    while (!stack_.empty()) {
      const Frame frame = stack_.back();
      stack_.pop_back();
      Reached& reached = reached_[frame.expr];
      if (reached.statement == statement_) continue;
      reached = {statement_, frame.user, frame.expr, 1, frame.part};
      if (frame.user.valid()) {
        const Reached& user = reached_[frame.user];
        reached.depth = user.depth + 1;
        if (reached.depth > kKept) reached.anchor = user.anchor;
      }
      const std::size_t base = stack_.size();
      const ir::Expr& expr = gathered_.program->expr(frame.expr);
      auto push = [&](ExprId operand, std::uint32_t k) {
        if (reached_[operand].statement != statement_) stack_.push_back({operand, frame.expr, label(expr, k)});
      };
      if (auto found = gathered_.long_lists.find(frame.expr); found != gathered_.long_lists.end()) {
        for (const Operand& operand : found->second) push(operand.expr, operand.position);
      } else {
        std::uint32_t k = 0;
        ir::for_each_operand(*gathered_.program, frame.expr, [&](ExprId operand) { push(operand, k++); });
      }
      std::reverse(stack_.begin() + static_cast<std::ptrdiff_t>(base), stack_.end());
    }
  }

  const Gathered& gathered_;
  NodeId statement_;
  IdVector<ExprId, Reached> reached_;
  std::vector<Frame> stack_;
};

class Locator {
 public:
  explicit Locator(const Gathered& gathered, Advice advice = {})
      : gathered_(gathered), program_(*gathered.program), operands_(gathered), advice_(std::move(advice)) {}

  Diagnostics operator()(std::vector<Finding> findings) {
    std::size_t next = 0;
    for (; next < findings.size() && outside_statements(findings[next].site); ++next) {
      const Site site = findings[next].site;
      const ir::SourcePlace source =
          site.kind == Site::Kind::Buffer ? ir::SourcePlace(gathered_.buffer(BufferId{site.index}).made_at) : program_.place();
      add(findings[next], ir::described(path_of(site), source), {});
    }
    for (std::uint32_t index = 0; next < findings.size() && index < program_.nodes().size(); ++index) {
      const NodeId id{index};
      enter(program_.node(id));
      for (; next < findings.size() && belongs(findings[next].site, id); ++next) add(findings[next], place_in(findings[next].site, id), id);
      leave(program_.node(id));
    }
    for (; next < findings.size(); ++next) {
      VYRE_ASSERT(findings[next].site.kind == Site::Kind::Entry);
      add(findings[next], ir::described("entry", program_.place()), {});
    }
    return std::move(out_);
  }

 private:
  static bool outside_statements(Site site) {
    return site.kind == Site::Kind::Buffer || site.kind == Site::Kind::Axis || site.kind == Site::Kind::Parameter;
  }
  static std::string path_of(Site site) {
    const char* list = site.kind == Site::Kind::Buffer ? "buffers" : site.kind == Site::Kind::Axis ? "workgroup_size" : "parameters";
    return fmt::format("{}[{}]", list, site.index);
  }

  bool belongs(Site site, NodeId id) const {
    if (site.kind == Site::Kind::Node) return site.index == id.index;
    const Statement& statement = gathered_.facts.statements[id];
    return site.kind == Site::Kind::Step && site.index - statement.first_step < statement.step_count;
  }

  // `parts_` names the current statement from the entry down.
  void enter(const ir::Node& node) {
    if (std::holds_alternative<ir::End>(node)) {
      parts_.pop_back();
    } else if (std::holds_alternative<ir::Else>(node)) {
      parts_.back() = {"otherwise"};
    } else {
      ++parts_.back().index;
    }
  }
  void leave(const ir::Node& node) {
    if (std::holds_alternative<ir::If>(node)) parts_.push_back({"then"});
    if (std::holds_alternative<ir::Loop>(node) || std::holds_alternative<ir::Block>(node)) parts_.push_back({"body"});
  }

  Place place_in(Site site, NodeId id) {
    std::string path;
    for (std::size_t k = 0; k < parts_.size(); ++k) {
      if (parts_.size() > 2 * kKept && k == kKept) {
        path += "...";
        k = parts_.size() - kKept;
      }
      write(path, parts_[k]);
    }
    ir::SourcePlace source = program_.place(id);
    if (site.kind == Site::Kind::Step) {
      const ExprId expr = gathered_.step(StepId{site.index}).expr;
      operands_.enter(id);
      operands_.append(path, expr);
      if (program_.place(expr).known()) source = program_.place(expr);
    }
    return ir::described(std::move(path), source);
  }

  // `at` is the statement of what is found in one.
  void add(Finding& finding, Place place, NodeId at) {
    std::string hint = advice_ ? advice_(finding, at) : std::string();
    out_.push_back({std::string(id(finding.rule)), std::move(finding.message), std::move(place), std::move(hint)});
  }

  const Gathered& gathered_;
  const ir::Program& program_;
  OperandPaths operands_;
  Advice advice_;
  // An index is one behind until the first statement of its list is entered: kNoIndex + 1 is 0.
  std::vector<Part> parts_{{"entry"}};
  Diagnostics out_;
};

}  // namespace

Diagnostics locate(const Gathered& gathered, std::vector<Finding> findings, const Options& options) {
  return Locator(gathered, options.advice != nullptr ? options.advice(gathered) : Advice())(std::move(findings));
}

std::vector<Place> locate(const ValidProgram& program, const std::vector<Site>& sites) {
  Gathered gathered;
  gathered.program = &program.program();
  gathered.facts = program.facts();
  std::vector<Finding> findings;
  for (const Site site : sites) findings.push_back({site, Rule{}, {}, {}});
  std::vector<Place> places;
  for (Diagnostic& diagnostic : Locator(gathered)(std::move(findings))) places.push_back(std::move(diagnostic.place));
  return places;
}

Place locate(const ValidProgram& program, NodeId statement, ExprId expr) {
  Site site = Site::of(statement);
  const Statement& steps = program.facts().statements[statement];
  for (std::uint32_t k = 0; k < steps.step_count; ++k) {
    const StepId step{steps.first_step + k};
    if (program.facts().steps[step.index].expr == expr) site = Site::of(step);
  }
  return locate(program, std::vector{site}).front();
}

}  // namespace vyre::validate
