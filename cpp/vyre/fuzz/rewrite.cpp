// A rewrite is a Plan: which expression is wrapped, before which statement a block opens or a Let stands, and how variables are renamed.
// copy() carries it out while it copies the program. A Plan is made at a place that the random numbers choose among those where the
// meaning stays the same; a result that breaks a rule all the same is given up.
#include "vyre/fuzz/rewrite.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "vyre/fuzz/edit.hpp"
#include "vyre/fuzz/random.hpp"
#include "vyre/ir/builder.hpp"
#include "vyre/ir/semantics.hpp"
#include "vyre/transform/passes.hpp"
#include "vyre/transform/rebuild.hpp"

namespace vyre::fuzz {
namespace {

using ir::BinOp;
using ir::DataType;
using validate::ValidProgram;

// The changes of a copy. Places are numbers of statements or expressions of the old program.
struct Plan {
  ExprId wrapped;  // becomes wrap(copy of it)
  std::function<ExprId(ir::ProgramBuilder&, ExprId)> wrap;
  NodeId before;  // open(...) is called before this statement ...
  std::function<void(ir::ProgramBuilder&)> open;
  NodeId closed;  // ... and what it opened is closed before this End or Else; invalid for the end of the program
  bool opens = false;
  ExprId hoisted;  // gets a Let before the statement, which uses that
  std::string hoisted_name;
  bool used = true;
  std::function<std::string(std::string_view)> rename;  // of variables
};

ir::Program copy(const ValidProgram& valid, const Plan& plan) {
  const ir::Program& from = valid.program();
  ir::ProgramBuilder to;
  for (const ir::BufferDecl& decl : from.buffers()) to.buffer(decl);
  to.workgroup_size(from.workgroup_size());
  // Variables, buffers and operations share the table of names, and one text may be all three.
  const auto same = [&](NameId id) { return to.name(from.text(id)); };
  const auto local = [&](NameId id) { return plan.rename ? to.name(plan.rename(from.text(id))) : same(id); };
  const auto copied = [&](ExprId id, const auto& operand) {
    if (const ir::Var* var = std::get_if<ir::Var>(&from.expr(id))) return to.add(ir::Var{local(var->name)});
    return to.add(transform::copy_expr(from, from.expr(id), to, operand, same));
  };
  IdVector<ExprId, ExprId> moved(from.exprs().size());
  for (std::uint32_t index = 0; index < from.exprs().size(); ++index) {
    const ExprId id{index};
    moved[id] = copied(id, [&](ExprId operand) { return moved[operand]; });
    if (id == plan.wrapped) moved[id] = plan.wrap(to, moved[id]);
  }
  bool open = false;
  for (std::uint32_t index = 0; index < from.nodes().size(); ++index) {
    const NodeId id{index};
    const ir::Node& node = from.node(id);
    if (open && id == plan.closed) {
      to.end();
      open = false;
    }
    const bool here = id == plan.before;
    if (here && plan.open) {
      plan.open(to);
      open = plan.opens;
    }
    std::function<ExprId(ExprId)> root = [&](ExprId old) { return moved[old]; };
    std::map<ExprId, ExprId> own;  // this statement's own copies
    if (here && plan.hoisted.valid()) {
      const NameId name = to.name(plan.hoisted_name);
      to.let(name, moved[plan.hoisted]);
      if (plan.used) {
        for (const validate::Step& step : valid.facts().steps_of(id)) {
          own[step.expr] =
              step.expr == plan.hoisted ? to.add(ir::Var{name}) : copied(step.expr, [&](ExprId operand) { return own.at(operand); });
        }
        root = [&](ExprId old) { return own.at(old); };
      }
    }
    if (const ir::Let* let = std::get_if<ir::Let>(&node)) {
      to.let(local(let->name), root(let->value));
    } else if (const ir::Assign* assign = std::get_if<ir::Assign>(&node)) {
      to.assign(local(assign->name), root(assign->value));
    } else if (const ir::Loop* loop = std::get_if<ir::Loop>(&node)) {
      const ExprId first = root(loop->from);
      to.loop(local(loop->variable), first, root(loop->to));
    } else {
      transform::copy_node(node, to, root, same);
    }
  }
  if (open) to.end();
  return to.finish();
}

class Rewriter {
 public:
  Rewriter(const Case& that, ValidProgram valid, const ir::OpTable& ops, Random& random)
      : that_(that), valid_(std::move(valid)), program_(valid_.program()), ops_(ops), random_(random), types_(types_of(valid_)) {
    // Operands come first, so one walk tells what reads or changes writable memory.
    touches_.resize(program_.exprs().size());
    for (const validate::Step& step : valid_.facts().steps) {
      const ir::Expr& expr = program_.expr(step.expr);
      bool touches = std::holds_alternative<ir::Atomic>(expr) || transform::is_writable_load(valid_, step);
      ir::for_each_operand(program_, step.expr, [&](ExprId operand) { touches |= touches_[operand.index]; });
      touches_[step.expr.index] = touches_[step.expr.index] || touches;
    }
  }

  std::optional<Case> run(Rewrite how) {
    Case result = that_;
    result.planted.reset();
    std::optional<ir::Program> program;
    if (how == Rewrite::Permute) {
      permute(result);
    } else {
      program = rewritten(how);
      if (!program) return std::nullopt;
      result.program = std::move(*program);
    }
    if (result.program == that_.program) return std::nullopt;
    // A wrapped Return may come to stand before a barrier of a later round, and the like.
    if (!validate::validate(result.program, ops_).program) return std::nullopt;
    return result;
  }

 private:
  std::optional<ir::Program> rewritten(Rewrite how) {
    const auto wrap_value = [&](std::function<ExprId(ir::ProgramBuilder&, ExprId)> wrap, auto fits) -> std::optional<ir::Program> {
      Plan plan;
      plan.wrapped = some_expr(fits);
      if (!plan.wrapped.valid()) return std::nullopt;
      plan.wrap = std::move(wrap);
      return copy(valid_, plan);
    };
    const auto is_u32 = [&](ExprId id) { return types_[id] == DataType::U32; };
    const auto any = [](ExprId) { return true; };
    const std::uint32_t number = edge_u32(random_);
    switch (how) {
      case Rewrite::AddZero: {
        const bool left = random_.chance(50);
        return wrap_value(
            [left](ir::ProgramBuilder& to, ExprId x) {
              const ExprId zero = to.add(ir::Literal::u32(0));
              return to.add(left ? ir::Binary{BinOp::Add, zero, x} : ir::Binary{BinOp::Add, x, zero});
            },
            is_u32);
      }
      case Rewrite::XorTwice:
        return wrap_value(
            [number](ir::ProgramBuilder& to, ExprId x) {
              const ExprId y = to.add(ir::Literal::u32(number));
              return to.add(ir::Binary{BinOp::BitXor, to.add(ir::Binary{BinOp::BitXor, x, y}), y});
            },
            is_u32);
      case Rewrite::NotTwice:
        return wrap_value(
            [](ir::ProgramBuilder& to, ExprId x) {
              return to.add(ir::Unary{ir::UnOp::BitNot, to.add(ir::Unary{ir::UnOp::BitNot, x})});
            },
            is_u32);
      case Rewrite::SelectTrue:
        return wrap_value(
            [number](ir::ProgramBuilder& to, ExprId x) {
              const ExprId yes = to.add(ir::Literal::u32(number | 4));
              return to.add(ir::Select{yes, x, to.add(ir::Literal::u32(number))});
            },
            is_u32);
      case Rewrite::SelectSame: {
        const bool yes = random_.chance(50);
        return wrap_value(
            [yes](ir::ProgramBuilder& to, ExprId x) {
              return to.add(ir::Select{to.add(ir::Literal::boolean(yes)), x, x});
            },
            any);
      }
      case Rewrite::CastSame:
        return wrap_value(
            [this](ir::ProgramBuilder& to, ExprId x) {
              return to.add(ir::Cast{wrapped_type_, x});
            },
            [&](ExprId id) {
              wrapped_type_ = types_[id];
              return ir::cast_kind(types_[id], types_[id]) == ir::CastKind::Identity;
            });
      case Rewrite::Repack:
        return wrap_value(
            [this](ir::ProgramBuilder& to, ExprId x) {
              std::vector<ExprId> lanes;
              for (std::uint32_t k = 0; k < ir::lanes(wrapped_type_); ++k) lanes.push_back(to.add(ir::Lane{x, k}));
              return to.add(ir::Pack{wrapped_type_, to.list(lanes)});
            },
            [&](ExprId id) {
              wrapped_type_ = types_[id];
              return ir::lanes(types_[id]) > 1;
            });
      case Rewrite::Swap:
        return wrap_value(
            [](ir::ProgramBuilder& to, ExprId x) {
              const ir::Binary binary = std::get<ir::Binary>(to.expr(x));
              return to.add(ir::Binary{binary.op, binary.right, binary.left});
            },
            [&](ExprId id) {
              const ir::Binary* binary = std::get_if<ir::Binary>(&program_.expr(id));
              // Two that touch memory would change the order in which they do.
              return binary != nullptr && (info(binary->op).laws & ir::kCommutative) != 0 &&
                     !(touches_[binary->left.index] && touches_[binary->right.index]);
            });
      case Rewrite::Outline:
        return wrap_value(
            [this](ir::ProgramBuilder& to, ExprId x) {
              const ir::Expr expr = to.expr(x);
              std::vector<ExprId> arguments;
              ir::for_each_operand(
                  expr, [&](ir::ExprList list) { return to.operands(list); }, [&](ExprId operand) { arguments.push_back(operand); });
              return to.add(ir::Call{to.name(operation_of(expr)), to.list(arguments)});
            },
            [&](ExprId id) { return !operation_of(program_.expr(id)).empty(); });
      case Rewrite::Inline:
        return transform::inline_calls(valid_).program();
      case Rewrite::WrapBlock:
        return wrap_rest([](ir::ProgramBuilder& to) { to.block(); });
      case Rewrite::WrapIf: {
        const bool boolean = random_.chance(50);
        return wrap_rest(
            [=](ir::ProgramBuilder& to) { to.if_(boolean ? to.add(ir::Literal::boolean(true)) : to.add(ir::Literal::u32(number | 1))); });
      }
      case Rewrite::WrapLoop: {
        const std::uint32_t first = std::min(number, 0xFFFFFFFEu);
        return wrap_rest(
            [=, this](ir::ProgramBuilder& to) {
              const ExprId from = to.add(ir::Literal::u32(first));
              to.loop(to.name(fresh("w")), from, to.add(ir::Literal::u32(first + 1)));
            },
            true);
      }
      case Rewrite::Hoist:
        return hoist(true);
      case Rewrite::DeadLet:
        return hoist(false);
      case Rewrite::DeadBranch:
        return insert([&](ir::ProgramBuilder& to, const ir::BufferDecl& decl) {
          to.if_(to.add(ir::Literal::u32(0)));
          store(to, decl, number % 8);
          to.end();
        });
      case Rewrite::DeadLoop:
        return insert([&](ir::ProgramBuilder& to, const ir::BufferDecl& decl) {
          const ExprId from = to.add(ir::Literal::u32(number));
          to.loop(to.name(fresh("d")), from, to.add(ir::Literal::u32(number / 2)));
          store(to, decl, number % 8);
          to.end();
        });
      case Rewrite::DeadStore:
        // No buffer has 2^31 elements or more.
        return insert([&](ir::ProgramBuilder& to, const ir::BufferDecl& decl) { store(to, decl, number | 0x80000000); });
      case Rewrite::Rename: {
        Plan plan;
        const std::uint32_t salt = random_.below(1000);
        plan.rename = [salt](std::string_view old) { return "r" + std::to_string(salt) + std::string(old); };
        return copy(valid_, plan);
      }
      case Rewrite::Permute:
        break;
    }
    return std::nullopt;
  }

  template <class Fits>
  ExprId some_expr(Fits fits) {
    std::vector<ExprId> fitting;
    for (std::uint32_t index = 0; index < program_.exprs().size(); ++index) {
      if (ir::lanes(types_[ExprId{index}]) != 0 && fits(ExprId{index})) fitting.push_back(ExprId{index});
    }
    if (fitting.empty()) return {};
    const ExprId chosen = random_.pick(fitting);
    fits(chosen);  // some remember what they were asked last
    return chosen;
  }

  // A statement that other statements may be put before; invalid in a program without any.
  NodeId some_statement() {
    std::vector<NodeId> fitting;
    for (std::uint32_t index = 0; index < program_.nodes().size(); ++index) {
      const ir::Node& node = program_.node(NodeId{index});
      if (!std::holds_alternative<ir::Else>(node) && !std::holds_alternative<ir::End>(node)) fitting.push_back(NodeId{index});
    }
    return fitting.empty() ? NodeId() : random_.pick(fitting);
  }

  // Gives nothing `in_loop` when a Break would then leave the new Loop.
  std::optional<ir::Program> wrap_rest(std::function<void(ir::ProgramBuilder&)> open, bool in_loop = false) {
    Plan plan;
    plan.before = some_statement();
    if (!plan.before.valid()) return std::nullopt;
    plan.open = std::move(open);
    plan.opens = true;
    // The list ends where a statement closes what was open before it.
    int depth = 0;
    std::vector<bool> loops;  // of the statements that are open: whether it is a Loop
    for (std::uint32_t index = plan.before.index; index < program_.nodes().size() && !plan.closed.valid(); ++index) {
      const ir::Node& node = program_.node(NodeId{index});
      if (depth == 0 && (std::holds_alternative<ir::End>(node) || std::holds_alternative<ir::Else>(node))) plan.closed = NodeId{index};
      if (plan.closed.valid()) break;
      if (std::holds_alternative<ir::Break>(node) && in_loop && std::ranges::find(loops, true) == loops.end()) return std::nullopt;
      if (std::holds_alternative<ir::End>(node)) loops.pop_back();
      const bool loop = std::holds_alternative<ir::Loop>(node);
      if (loop || std::holds_alternative<ir::If>(node) || std::holds_alternative<ir::Block>(node)) loops.push_back(loop);
      depth = static_cast<int>(loops.size());
    }
    return copy(valid_, plan);
  }

  std::optional<ir::Program> hoist(bool used) {
    Plan plan;
    plan.before = some_statement();
    if (!plan.before.valid()) return std::nullopt;
    std::vector<ExprId> fitting;
    for (const validate::Step& step : valid_.facts().steps_of(plan.before)) {
      if (!touches_[step.expr.index]) fitting.push_back(step.expr);
    }
    if (fitting.empty()) return std::nullopt;
    plan.hoisted = random_.pick(fitting);
    plan.hoisted_name = fresh("h");
    plan.used = used;
    return copy(valid_, plan);
  }

  std::optional<ir::Program> insert(const std::function<void(ir::ProgramBuilder&, const ir::BufferDecl&)>& write) {
    std::vector<const ir::BufferDecl*> fitting;
    for (const ir::BufferDecl& decl : program_.buffers()) {
      if (ir::writable(decl.access) && ir::lanes(decl.element) != 0) fitting.push_back(&decl);
    }
    Plan plan;
    plan.before = some_statement();
    if (!plan.before.valid() || fitting.empty()) return std::nullopt;
    const ir::BufferDecl& decl = *random_.pick(fitting);
    plan.open = [&](ir::ProgramBuilder& to) { write(to, decl); };
    return copy(valid_, plan);
  }

  static void store(ir::ProgramBuilder& to, const ir::BufferDecl& decl, std::uint32_t index) {
    const ExprId at = to.add(ir::Literal::u32(index));
    to.store(to.name(decl.name), at, transform::add_constant(to, {ir::value_type(decl.element), ir::scalar(1)}));
  }

  // The operation whose body is this operator on its parameters, in order; empty when there is none.
  std::string operation_of(const ir::Expr& expr) const {
    static const std::map<const ir::OpInfo*, std::string> known = [&] {
      std::map<const ir::OpInfo*, std::string> result;
      for (const ir::OpTable::Spec& spec : ops_.all()) {
        if (!spec->inlinable() || spec->function().body->nodes().size() != 1) continue;
        const ir::Program& body = *spec->function().body;
        const ir::Expr& value = body.expr(std::get<ir::Let>(body.node(NodeId{0})).value);
        std::vector<std::string_view> operands;
        ir::for_each_operand(
            value, [&](ir::ExprList list) { return body.operands(list); },
            [&](ExprId operand) {
              const ir::Var* var = std::get_if<ir::Var>(&body.expr(operand));
              operands.push_back(var == nullptr ? std::string_view() : body.text(var->name));
            });
        if (!std::equal(operands.begin(), operands.end(), spec->function().parameters.begin(), spec->function().parameters.end())) continue;
        if (const ir::OpInfo* op = ir::operator_of(value); op != nullptr && op->is_typed()) result.try_emplace(op, spec->id);
      }
      return result;
    }();
    const auto found = known.find(ir::operator_of(expr));
    return found == known.end() ? std::string() : found->second;
  }

  void permute(Case& result) {
    std::vector<ir::BufferDecl> buffers = program_.buffers();
    for (std::size_t k = buffers.size(); k > 1; --k) std::swap(buffers[k - 1], buffers[random_.below(k)]);
    Edits edits(program_);
    const std::uint32_t salt = random_.below(1000);
    for (std::size_t k = 0; k < buffers.size(); ++k) {
      if (ir::is_bound(buffers[k].access)) buffers[k].binding = salt + 3 * static_cast<std::uint32_t>(k);
    }
    edits.buffers = buffers;
    result.program = apply(valid_, edits);
    const auto place = [&](const Array& array) {
      return std::find_if(buffers.begin(), buffers.end(), [&](const auto& decl) { return decl.name == array.buffer; });
    };
    for (std::size_t call = 0; call < calls(result); ++call) {
      std::ranges::sort(arrays_of(result, call), {}, place);
    }
  }

  std::string fresh(const char* stem) {
    for (;;) {
      std::string name = stem + std::to_string(random_.below(1'000'000));
      if (!program_.names().find(name).valid()) return name;
    }
  }

  const Case& that_;
  ValidProgram valid_;
  const ir::Program& program_;
  const ir::OpTable& ops_;
  Random& random_;
  IdVector<ExprId, DataType> types_;
  std::vector<bool> touches_;
  DataType wrapped_type_ = DataType::U32;
};

}  // namespace

std::optional<Case> rewrite(const Case& that, Rewrite how, std::uint64_t seed, const ir::OpTable& ops) {
  std::optional<ValidProgram> valid = validate::validate(that.program, ops).program;
  if (!valid) return std::nullopt;
  Random random(seed);
  return Rewriter(that, std::move(*valid), ops, random).run(how);
}

Case rewrite(const Case& that, std::uint32_t count, std::uint64_t seed, const ir::OpTable& ops) {
  Random random(seed);
  Case result = that;
  for (std::uint32_t k = 0; k < count; ++k) {
    const Rewrite how = random.pick(kRewrites).rewrite;
    if (std::optional<Case> next = rewrite(result, how, random.next(), ops)) result = std::move(*next);
  }
  return result;
}

}  // namespace vyre::fuzz
