// N004, N005 and N006. All ask which elements the invocations of a grid store to, and which conditions decide whether they do.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "vyre/advise/note_list.hpp"
#include "vyre/advise/python_text.hpp"
#include "vyre/ir/ops.hpp"
#include "vyre/validate/report.hpp"

namespace vyre::advise {
namespace {

using ir::BinOp;

constexpr std::uint64_t kUnknownExtent = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t kMostIndices = std::uint64_t{1} << 32;

// Local ids and workgroup ids, a bit each.
using Digits = std::uint8_t;

// The facts that hold wherever a statement runs.
struct Guard {
  Digits single = 0;            // these ids have one value only, in each turn of a loop
  bool other = false;           // conditions that say nothing else
  bool parts = false;           // conditions that may hold for some invocations and not for others
  std::uint32_t lengths = ~0u;  // the last `id < length`, in a list of them
};

struct LengthGuard {
  BufferId buffer;
  std::int8_t axis;
  std::uint32_t before;
};

std::optional<ir::AtomicOp> atomic_of(BinOp op) {
  switch (op) {
    case BinOp::Add:
      return ir::AtomicOp::Add;
    case BinOp::BitAnd:
      return ir::AtomicOp::And;
    case BinOp::BitOr:
      return ir::AtomicOp::Or;
    case BinOp::BitXor:
      return ir::AtomicOp::Xor;
    case BinOp::Min:
      return ir::AtomicOp::Min;
    case BinOp::Max:
      return ir::AtomicOp::Max;
    default:
      return std::nullopt;
  }
}

}  // namespace

class ElementsOfGrid::State {
 public:
  explicit State(NoteWalk& walk)
      : walk_(walk), stores_(walk.program.buffers().size()), extents_(walk.facts.locals.size()), single_of_(walk.facts.locals.size()) {
    for (const ir::Expr& expr : walk.program.exprs()) {
      const auto* id = std::get_if<ir::GridId>(&expr);
      if (id != nullptr && id->kind != ir::GridIdKind::Local) named_axes_[id->axis] = true;
    }
  }

  void enter(NodeId id) {
    const ir::Node& node = walk_.program.node(id);
    const Statement& statement = walk_.facts.statements[id];
    for (const Step& step : walk_.facts.steps_of(id)) {
      const ir::Expr& expr = walk_.program.expr(step.expr);
      if (std::holds_alternative<ir::BufLen>(expr)) length_of_.emplace(walk_.values.of(step.expr).number, step.buffer);
      if (const auto* atomic = std::get_if<ir::Atomic>(&expr)) {
        stores_[step.buffer].by_id_alone = false;
        note_beyond(id, step, *atomic);
      }
    }
    if (const auto* let = std::get_if<ir::Let>(&node)) {
      single_of_[statement.local] = {under(let->value, true, {}).single, under(let->value, false, {}).single};
    } else if (const auto* store = std::get_if<ir::Store>(&node)) {
      note_store(id, statement.buffer, *store);
    } else if (const auto* branch = std::get_if<ir::If>(&node)) {
      open_.push_back({guard_, under(branch->condition, false, guard_)});
      guard_ = under(branch->condition, true, guard_);
    } else if (const auto* loop = std::get_if<ir::Loop>(&node)) {
      const auto from = ir::literal_u32(walk_.program.expr(loop->from)), to = ir::literal_u32(walk_.program.expr(loop->to));
      extents_[statement.local] = from && to ? std::uint64_t{std::max(*from, *to)} - *from : kUnknownExtent;
      open_.push_back({guard_, guard_});
      guard_.parts |= !is_uniform(loop->from) || !is_uniform(loop->to);
    } else if (std::holds_alternative<ir::Block>(node)) {
      open_.push_back({guard_, guard_});
    } else if (std::holds_alternative<ir::Else>(node)) {
      guard_ = open_.back().otherwise;
    } else if (const auto* end = std::get_if<ir::End>(&node)) {
      close(id, *end);
    } else if ((std::holds_alternative<ir::Return>(node) || std::holds_alternative<ir::Break>(node)) && !open_.empty()) {
      (std::holds_alternative<ir::Return>(node) ? open_.back().returned : open_.back().broken) = true;
    }
  }

  void finish() {
    if (!walk_.call.workgroups) return;
    for (std::uint32_t k = 0; k < stores_.size(); ++k) {
      const Stores& stores = stores_[BufferId{k}];
      if (stores.by_id_alone && stores.axis >= 0) note_tail(BufferId{k}, stores);
    }
  }

 private:
  struct Open {
    Guard before, otherwise;
    bool returned = false, broken = false;  // by a statement in it
  };
  struct Stores {
    NodeId first;
    bool by_id_alone = true;
    std::int8_t axis = -1;
    std::vector<std::uint32_t> lengths;  // Guard::lengths of each store
  };
  struct Single {
    Digits if_true = 0, if_false = 0;
  };

  // Statements that follow an If that ends in a Return or a Break run where its condition is false.
  void close(NodeId id, const ir::End& end) {
    const Open top = open_.back();
    open_.pop_back();
    const ir::Node& opener = walk_.program.node(end.opener);
    const auto* branch = std::get_if<ir::If>(&opener);
    const bool broken = top.broken && !std::holds_alternative<ir::Loop>(opener);
    const ir::Node& last = walk_.program.node(NodeId{id.index - 1});
    const bool leaves = std::holds_alternative<ir::Return>(last) || std::holds_alternative<ir::Break>(last);
    guard_ = top.before;
    if (branch != nullptr && !branch->otherwise.valid() && leaves) {
      guard_ = top.otherwise;
    } else if (top.returned || broken) {
      guard_.other = guard_.parts = true;
    }
    if (open_.empty()) return;
    open_.back().returned |= top.returned;
    open_.back().broken |= broken;
  }

  // Returns `guard` with the facts that hold where the condition is true, or false.
  Guard under(ExprId condition, bool truth, Guard guard) {
    struct Wanted {
      ExprId expr;
      bool truth;
    };
    std::vector<Wanted> open{{condition, truth}};
    for (std::size_t k = 0; k < open.size(); ++k) {
      const auto [expr, wanted] = open[k];
      if (k == kMostConditions) {
        guard.other = guard.parts = true;
        break;
      }
      const ir::Expr& is = walk_.program.expr(expr);
      if (const auto* unary = std::get_if<ir::Unary>(&is); unary != nullptr && unary->op == ir::UnOp::LogicalNot) {
        open.push_back({unary->operand, !wanted});
      } else if (const auto* cast = std::get_if<ir::Cast>(&is); cast != nullptr && cast->target == ir::DataType::Bool) {
        open.push_back({cast->value, wanted});
      } else if (const auto* binary = std::get_if<ir::Binary>(&is)) {
        const bool all =
            wanted ? binary->op == BinOp::And || binary->op == BinOp::BitAnd : binary->op == BinOp::Or || binary->op == BinOp::BitOr;
        if (all) {
          open.push_back({binary->left, wanted});
          open.push_back({binary->right, wanted});
        } else {
          compared(*binary, wanted, guard);
        }
      } else {
        guard.other = true;
        guard.parts |= !is_uniform(expr);
        if (std::holds_alternative<ir::Var>(is)) {
          const Single& single = single_of_[walk_.facts.steps[walk_.values.step(expr).index].local];
          guard.single |= wanted ? single.if_true : single.if_false;
        }
      }
    }
    return guard;
  }

  bool is_uniform(ExprId expr) const { return walk_.values.of(expr).linear.uniform(); }

  void compared(const ir::Binary& binary, bool truth, Guard& guard) {
    guard.parts |= !is_uniform(binary.left) || !is_uniform(binary.right);
    const NoteValue &left = walk_.values.of(binary.left), &right = walk_.values.of(binary.right);
    const auto below_length = [&](const NoteValue& id, const NoteValue& length) {
      const auto found = length_of_.find(length.number);
      if (id.id_axis < 0 || found == length_of_.end()) return false;
      lengths_.push_back({found->second, id.id_axis, guard.lengths});
      guard.lengths = static_cast<std::uint32_t>(lengths_.size() - 1);
      return true;
    };
    if (binary.op == (truth ? BinOp::Lt : BinOp::Ge) && below_length(left, right)) return;
    if (binary.op == (truth ? BinOp::Gt : BinOp::Le) && below_length(right, left)) return;
    guard.other = true;
    if (binary.op != (truth ? BinOp::Eq : BinOp::Ne)) return;
    const Linear& sum = right.linear.uniform() ? left.linear : right.linear;
    if (!left.linear.known || !right.linear.known || !(left.linear.uniform() || right.linear.uniform())) return;
    const bool ids_alone =
        std::all_of(sum.terms.begin(), sum.terms.begin() + sum.count, [](auto term) { return term.digit < kLoopDigits; });
    if (ids_alone) guard.single |= told_apart(sum, 0xFF).value_or(0);
  }

  std::uint64_t extent(std::uint32_t digit) const {
    if (digit >= kLoopDigits) return extents_[LocalId{digit - kLoopDigits}];
    if (digit < kWorkgroupDigits) return walk_.program.workgroup_size()[digit];
    return walk_.call.workgroups ? std::uint64_t{(*walk_.call.workgroups)[digit - kWorkgroupDigits]} : kUnknownExtent;
  }

  // The ids that differ between invocations which may store to the same buffer.
  Digits running(ir::BufferAccess access) const {
    Digits made = 0;
    for (std::uint32_t axis = 0; axis < 3; ++axis) {
      const bool sized = walk_.program.workgroup_size()[axis] > 1;
      if (sized) made |= Digits(1u << axis);
      if (ir::is_bound(access) && (walk_.call.workgroups ? (*walk_.call.workgroups)[axis] > 1 : axis == 0 || sized || named_axes_[axis])) {
        made |= Digits(1u << (kWorkgroupDigits + axis));
      }
    }
    return made & Digits(~guard_.single);
  }

  // The ids of `among` in a sum that has another value whenever they have; nothing when values may coincide. Ids outside are constant.
  std::optional<Digits> told_apart(const Linear& sum, Digits among) const {
    Digits ids = 0;
    std::vector<Linear::Term> terms(sum.terms.begin(), sum.terms.begin() + sum.count);
    std::sort(terms.begin(), terms.end(), [](auto a, auto b) { return a.factor < b.factor; });
    std::uint64_t reach = 0;  // the largest value of the smaller terms
    for (const auto& [digit, factor] : terms) {
      if (digit < kLoopDigits && (among >> digit & 1) == 0) continue;
      const std::uint64_t values = extent(digit);
      if (digit < kLoopDigits) ids |= Digits(1u << digit);
      if (values <= 1) continue;
      if (factor <= reach) return std::nullopt;
      reach = values == kUnknownExtent ? kMostIndices : std::min(kMostIndices, reach + factor * (values - 1));
    }
    return sum.known ? std::optional(ids) : std::nullopt;
  }

  // Whether no two invocations that run here have the same index.
  bool has_own(ExprId index, ir::BufferAccess access) const {
    const Digits running = this->running(access);
    Digits apart = 0;
    for_each_axis(index, [&](const Linear& part) { apart |= told_apart(part, running).value_or(0); });
    return (running & ~apart) == 0;
  }

  // The indices along the axes of an array, as in select(y < height & x < width, y * width + x, 2^32 - 1); the index itself otherwise.
  template <class Visit>
  void for_each_axis(ExprId index, Visit&& visit) const {
    const auto* chosen = std::get_if<ir::Select>(&walk_.program.expr(index));
    if (chosen == nullptr || ir::literal_u32(walk_.program.expr(chosen->if_false)) != ~0u) return visit(walk_.values.of(index).linear);
    std::map<std::uint64_t, std::uint64_t> below;  // numbers of indices, and of the extents that they are below
    std::vector<ExprId> open{chosen->condition};
    for (std::size_t k = 0; k < std::min(open.size(), kMostConditions); ++k) {
      const auto* binary = std::get_if<ir::Binary>(&walk_.program.expr(open[k]));
      if (binary == nullptr) continue;
      if (binary->op == BinOp::And || binary->op == BinOp::BitAnd) open.insert(open.end(), {binary->left, binary->right});
      const NoteValue& bound = walk_.values.of(binary->right);
      if (binary->op == BinOp::Lt && bound.linear.uniform()) below.emplace(walk_.values.of(binary->left).number, bound.number);
    }
    ExprId rest = chosen->if_true;
    for (std::size_t k = 0; k < below.size(); ++k) {
      const auto* sum = std::get_if<ir::Binary>(&walk_.program.expr(rest));
      if (sum == nullptr || sum->op != BinOp::Add) break;
      const auto* rows = std::get_if<ir::Binary>(&walk_.program.expr(sum->left));
      const auto found = below.find(walk_.values.of(sum->right).number);
      if (rows == nullptr || rows->op != BinOp::Mul || found == below.end() || found->second != walk_.values.of(rows->right).number) break;
      visit(walk_.values.of(sum->right).linear);
      rest = rows->left;
    }
    visit(walk_.values.of(rest).linear);
  }

  void note_store(NodeId id, BufferId buffer, const ir::Store& store) {
    const ir::BufferDecl& decl = walk_.buffer(buffer);
    const NoteValue& index = walk_.values.of(store.index);
    Stores& stores = stores_[buffer];
    if (!stores.first.valid()) stores = {id, stores.by_id_alone, index.id_axis, {}};
    if (index.id_axis < 0 || index.id_axis != stores.axis || guard_.other) stores.by_id_alone = false;
    if (stores.by_id_alone) stores.lengths.push_back(guard_.lengths);

    if (decl.access != ir::BufferAccess::ReadWrite && decl.access != ir::BufferAccess::Workgroup) return;
    const NoteValue& value = walk_.values.of(store.value);
    for (std::size_t k = 0; k < value.source_count; ++k) {
      const NoteValue::Source& source = value.sources[k];
      if (walk_.facts.steps[source.load.index].buffer != buffer || source.index != index.number) continue;
      if (!has_own(store.index, decl.access)) {
        walk_.found.push_back({id, {}, Note::N005, {Text(decl.name).text()}, as_atomic(decl, store, source.load)});
      }
      return;
    }
  }

  static bool has_ids(const Linear& sum) {
    return std::any_of(sum.terms.begin(), sum.terms.begin() + sum.count, [](auto term) { return term.digit < kLoopDigits; });
  }

  // Whether an id decides about the value other than through what is loaded, as far as a short walk tells.
  bool names_ids(ExprId expr) const {
    std::vector<ExprId> open{expr};
    for (std::size_t k = 0; k < open.size(); ++k) {
      if (k == kMostConditions) return true;
      const ir::Expr& is = walk_.program.expr(open[k]);
      if (std::holds_alternative<ir::GridId>(is)) return true;
      if (std::holds_alternative<ir::Load>(is) || std::holds_alternative<ir::Atomic>(is)) continue;
      if (std::holds_alternative<ir::Var>(is)) {
        const LocalId local = walk_.facts.steps[walk_.values.step(open[k]).index].local;
        const StepId let = walk_.values.value_of(local);
        if (!let.valid() && !walk_.facts.locals[local].loop_variable) return true;
        if (let.valid()) open.push_back(walk_.facts.steps[let.index].expr);
        continue;
      }
      ir::for_each_operand(
          is, [&](ir::ExprList list) { return walk_.program.operands(list); }, [&](ExprId operand) { open.push_back(operand); });
    }
    return false;
  }

  // Along which axes the workgroups have more invocations than the call asks for, a bit each.
  std::uint32_t ragged_axes() const {
    if (!walk_.call.workgroups || !walk_.call.invocations) return 0;
    std::uint32_t axes = 0;
    for (std::uint32_t axis = 0; axis < 3; ++axis) axes |= std::uint32_t{run_along(axis) > (*walk_.call.invocations)[axis]} << axis;
    return axes;
  }
  std::uint64_t run_along(std::uint32_t axis) const {
    return std::uint64_t{(*walk_.call.workgroups)[axis]} * walk_.program.workgroup_size()[axis];
  }

  // Whether it shows in memory that invocations beyond the grid have the atomic too. What they load beyond an array is zero, and what
  // they change beyond one is nothing, so indices and operands that depend on ids or loads are mostly harmless.
  bool shows_beyond(const ir::Atomic& atomic) const {
    const auto operands = walk_.program.operands(atomic.operands);
    const NoteValue &index = walk_.values.of(operands.front()), &operand = walk_.values.of(operands.back());
    if (atomic.has_expected || !operand.linear.known || is_zero(operands.back())) return false;
    const bool counts = atomic.op == ir::AtomicOp::Add || atomic.op == ir::AtomicOp::Xor;
    if (index.linear.known) return counts && !has_ids(index.linear);
    return !names_ids(operands.front());
  }
  bool is_zero(ExprId expr) const { return ir::literal_u32(walk_.program.expr(expr)) == 0u; }

  void note_beyond(NodeId id, const Step& step, const ir::Atomic& atomic) {
    const std::uint32_t axes = ragged_axes();
    if (axes == 0 || guard_.parts || !shows_beyond(atomic)) return;
    std::uint64_t run = 1, asked = 1;
    std::string condition;
    for (std::uint32_t axis = 0; axis < 3; ++axis) {
      run *= run_along(axis);
      asked *= (*walk_.call.invocations)[axis];
      if ((axes >> axis & 1) == 0) continue;
      const std::string below = fmt::format("Expr.lt(Expr.invocation_id({}), {})", axis, (*walk_.call.invocations)[axis]);
      condition = condition.empty() ? below : fmt::format("Expr.logical_and({}, {})", condition, below);
    }
    walk_.found.push_back(
        {id, step.expr, Note::N006, {Text(walk_.buffer(step.buffer).name).text(), std::to_string(run - asked)}, std::vector{condition}});
  }

  // The values of N005's hint, for an update that an atomic can do.
  std::optional<std::vector<std::string>> as_atomic(const ir::BufferDecl& decl, const ir::Store& store, StepId load) {
    const auto* binary = std::get_if<ir::Binary>(&walk_.program.expr(store.value));
    const bool can = decl.element == ir::DataType::U32 && (decl.access == ir::BufferAccess::ReadWrite || decl.atomic);
    if (binary == nullptr || !can || !atomic_of(binary->op)) return {};
    const auto is_load = [&](ExprId id) {
      const StepId step = walk_.values.step(id);
      if (step == load) return true;
      const LocalId local = walk_.facts.steps[step.index].local;
      return local.valid() && walk_.values.value_of(local) == load;
    };
    if (is_load(binary->left) == is_load(binary->right)) return {};
    const ExprId by = is_load(binary->left) ? binary->right : binary->left;
    const NoteValue& other = walk_.values.of(by);
    for (std::size_t k = 0; k < other.source_count; ++k) {
      if (other.sources[k].load == load) return {};
    }
    return {{std::string(ir::info(*atomic_of(binary->op)).text), python_name(decl.name)}};
  }

  std::optional<std::uint64_t> length(BufferId buffer) const {
    const ir::BufferDecl& decl = walk_.buffer(buffer);
    if (decl.count > 0) return decl.count;
    const auto found = walk_.call.lengths.find(decl.name);
    return found == walk_.call.lengths.end() ? std::nullopt : std::optional<std::uint64_t>(found->second);
  }

  void note_tail(BufferId buffer, const Stores& stores) {
    const std::uint32_t axis = static_cast<std::uint8_t>(stores.axis), size = walk_.program.workgroup_size()[axis];
    std::array<std::uint32_t, 3> workgroups = *walk_.call.workgroups;
    const std::uint64_t reached = std::uint64_t{workgroups[axis]} * size;
    const auto all = length(buffer);
    if (walk_.buffer(buffer).access != ir::BufferAccess::ReadWrite || !all || *all <= reached) return;
    std::unordered_set<std::uint32_t> seen;
    for (std::uint32_t guard : stores.lengths) {
      for (; guard != ~0u && seen.insert(guard).second; guard = lengths_[guard].before) {
        const auto bound = length(lengths_[guard].buffer);
        if (lengths_[guard].axis != stores.axis || !bound || *bound < *all) return;
      }
    }
    workgroups[axis] = static_cast<std::uint32_t>((*all + size - 1) / size);
    walk_.found.push_back(
        {stores.first,
         {},
         Note::N004,
         {std::to_string(*all - reached), std::to_string(*all), Text(walk_.buffer(buffer).name).text(), std::to_string(workgroups[axis])},
         std::vector{fmt::format("({}, {}, {})", workgroups[0], workgroups[1], workgroups[2])}});
  }

  NoteWalk& walk_;
  Guard guard_;
  std::vector<Open> open_;
  std::vector<LengthGuard> lengths_;
  IdVector<BufferId, Stores> stores_;
  IdVector<LocalId, std::uint64_t> extents_;               // turns of loops
  IdVector<LocalId, Single> single_of_;                    // of conditions that are bound by a Let
  std::unordered_map<std::uint64_t, BufferId> length_of_;  // by the number of the value
  std::array<bool, 3> named_axes_{};
};

ElementsOfGrid::ElementsOfGrid(NoteWalk& walk) : state_(std::make_unique<State>(walk)) {}
ElementsOfGrid::~ElementsOfGrid() = default;
void ElementsOfGrid::enter(NodeId statement) { state_->enter(statement); }
void ElementsOfGrid::finish() { state_->finish(); }

}  // namespace vyre::advise
