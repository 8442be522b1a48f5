// The Reducer holds the smallest case that shows the fault so far, and goes through its methods in turn: each proposes smaller candidates,
// and accept() keeps one that is valid and still fails. It stops when no method makes progress, or the tries are used up. Candidates whose
// loops would not end are dropped without a try, because they could only time out.
#include "vyre/fuzz/reduce.hpp"

#include <algorithm>
#include <bit>
#include <span>
#include <utility>

#include "vyre/fuzz/edit.hpp"
#include "vyre/ir/data_type.hpp"

namespace vyre::fuzz {
namespace {

using ir::DataType;

// In longer arrays only zeros are tried: what matters in them is found sooner by making them shorter.
constexpr std::size_t kWordsTried = 64;

// Up to here literals are made smaller by one.
constexpr std::uint32_t kLast = 64;

// A loop of more rounds ends by a Break, or takes too long to try.
constexpr std::uint32_t kManyRounds = 1u << 16;

std::optional<std::uint32_t> rounds_of(const ir::Program& program, const ir::Loop& loop) {
  const std::optional<std::uint32_t> from = ir::literal_u32(program.expr(loop.from)), to = ir::literal_u32(program.expr(loop.to));
  if (!from || !to) return std::nullopt;
  return *to > *from ? *to - *from : 0;
}

// Whether a loop of many rounds has no Break that its invocations may reach, as far as literal conditions say.
bool goes_on_forever(const ir::Program& program) {
  struct Open {
    bool loop = false, many = false, ends = false;
    bool reached = true;  // from the start of the innermost loop
  };
  std::vector<Open> open;
  for (const ir::Node& node : program.nodes()) {
    const bool reached = open.empty() || open.back().reached;
    if (const ir::Loop* loop = std::get_if<ir::Loop>(&node)) {
      open.push_back({true, rounds_of(program, *loop).value_or(0) > kManyRounds, false, true});
    } else if (const ir::If* branch = std::get_if<ir::If>(&node)) {
      open.push_back({.reached = reached && !transform::constant_of(program.expr(branch->condition))});
    } else if (std::holds_alternative<ir::Block>(node)) {
      open.push_back({.reached = reached});
    } else if (std::holds_alternative<ir::Break>(node) && reached) {
      std::ranges::find(open.rbegin(), open.rend(), true, &Open::loop)->ends = true;
    } else if (std::holds_alternative<ir::End>(node)) {
      if (open.back().many && !open.back().ends) return true;
      open.pop_back();
    }
  }
  return false;
}

class Reducer {
 public:
  Reducer(const Case& first, const std::function<bool(const Case&)>& still_fails, const ir::OpTable& ops, std::uint32_t tries)
      : still_fails_(still_fails), ops_(ops), left_(tries), tries_(tries), best_(first) {
    best_.planted.reset();
    // Where barriers are divergent that may be the very thing to show.
    if (!validate::validate(first.program, ops_).program) options_.uniformity = false;
    program_ = validate::validate(first.program, ops_, options_).program;
  }

  Reduced run() {
    if (program_) {
      while (left_ > 0) {
        progress_ = false;
        bound_loops();
        drop_calls();
        drop_statements();
        open_frames();
        simplify_exprs();
        drop_buffers();
        shrink_sizes();
        shrink_arrays();
        if (!progress_) break;
      }
    }
    return {std::move(best_), tries_ - left_};
  }

 private:
  const ir::Program& program() const { return best_.program; }

  // Keeps the candidate if it is valid, different and still fails.
  bool accept(Case candidate) {
    if (left_ == 0) return false;
    const bool same_program = candidate.program == best_.program;
    const bool same_calls = candidate.arrays == best_.arrays && candidate.later == best_.later;
    if (same_program && same_calls && candidate.grid == best_.grid) return false;
    std::optional<validate::ValidProgram> valid = program_;
    if (!same_program) {
      valid = validate::validate(candidate.program, ops_, options_).program;
      if (!valid || goes_on_forever(candidate.program)) return false;
    }
    --left_;
    if (!still_fails_(candidate)) return false;
    best_ = std::move(candidate);
    program_ = std::move(valid);
    progress_ = true;
    return true;
  }

  bool accept(const Edits& edits) {
    Case candidate = best_;
    candidate.program = apply(*program_, edits);
    return accept(std::move(candidate));
  }

  // A loop of many rounds that ends by a Break gets a bound, so that it also ends without it.
  void bound_loops() {
    for (std::uint32_t index = 0; index < program().nodes().size() && left_ > 0; ++index) {
      const ir::Loop* loop = std::get_if<ir::Loop>(&program().node(NodeId{index}));
      if (loop == nullptr || rounds_of(program(), *loop).value_or(0) <= kManyRounds) continue;
      const std::uint32_t from = *ir::literal_u32(program().expr(loop->from));
      const ExprId to = loop->to;
      for (const std::uint32_t rounds : {16u, 256u, kManyRounds}) {
        Edits edits(program());
        edits.exprs[to].literal = transform::Constant{DataType::U32, ir::scalar(from + rounds)};
        if (accept(edits)) break;
      }
    }
  }

  // One call alone, if it shows the fault; otherwise as few as do.
  void drop_calls() {
    for (std::size_t call = 0; calls(best_) > 1 && call < calls(best_); ++call) {
      Case candidate = best_;
      candidate.arrays = arrays_of(best_, call);
      candidate.later.clear();
      accept(std::move(candidate));
    }
    for (std::size_t call = calls(best_); call-- > 0 && calls(best_) > 2;) {
      Case candidate = best_;
      if (call == 0) candidate.arrays = candidate.later[0];
      candidate.later.erase(candidate.later.begin() + static_cast<std::ptrdiff_t>(call == 0 ? 0 : call - 1));
      accept(std::move(candidate));
    }
  }

  // Statements without their Else and End.
  std::vector<NodeId> statements() const {
    std::vector<NodeId> result;
    for (std::uint32_t index = 0; index < program().nodes().size(); ++index) {
      const ir::Node& node = program().node(NodeId{index});
      if (!std::holds_alternative<ir::Else>(node) && !std::holds_alternative<ir::End>(node)) result.push_back(NodeId{index});
    }
    return result;
  }

  // Zeller's ddmin: runs of statements, long ones first, last ones first, because a later statement is needed by fewer.
  void drop_statements() {
    for (std::size_t size = statements().size(); size > 0; size /= 2) {
      for (std::size_t end = statements().size(); end > 0 && left_ > 0;) {
        const std::vector<NodeId> all = statements();
        end = std::min(end, all.size());
        const std::size_t begin = end > size ? end - size : 0;
        Edits edits(program());
        for (std::size_t k = begin; k < end; ++k) edits.nodes[all[k]] = Keep::Nothing;
        accept(edits);
        end = begin;
      }
    }
  }

  void open_frames() {
    for (std::size_t k = statements().size(); k-- > 0 && left_ > 0;) {
      for (const Keep keep : {Keep::Body, Keep::Otherwise, Keep::NoElse, Keep::ElseAsThen}) {
        const std::vector<NodeId> all = statements();
        if (k >= all.size()) break;
        const ir::Node& node = program().node(all[k]);
        const ir::If* branch = std::get_if<ir::If>(&node);
        const bool frame = branch != nullptr || std::holds_alternative<ir::Loop>(node) || std::holds_alternative<ir::Block>(node);
        if (!frame || (keep != Keep::Body && (branch == nullptr || !branch->otherwise.valid()))) continue;
        Edits edits(program());
        edits.nodes[all[k]] = keep;
        if (accept(edits)) break;
      }
    }
  }

  // From the users down: what goes first takes the most with it.
  void simplify_exprs() {
    for (std::uint32_t k = static_cast<std::uint32_t>(program().exprs().size()); k-- > 0 && left_ > 0;) {
      if (k >= program().exprs().size()) continue;
      simplify_expr(ExprId{k});
    }
  }

  void simplify_expr(ExprId id) {
    const IdVector<ExprId, DataType> types = types_of(*program_);
    const DataType type = types[id];
    if (ir::lanes(type) == 0) return;
    const auto literal = [&](std::uint32_t bits) {
      Edits edits(program());
      edits.exprs[id].literal = transform::Constant{type, ir::scalar(bits)};
      return accept(edits);
    };
    const ir::Expr& expr = program().expr(id);
    if (const std::optional<std::uint32_t> number = ir::literal_u32(expr)) {
      // One less only where that soon comes to an end; large values lose their bits.
      const std::uint32_t value = *number, less = value <= kLast ? value - 1 : value & (value - 1);
      for (const std::uint32_t smaller : {0u, 1u, 2u, value >> 16, value >> 4, value >> 1, std::bit_floor(value), less}) {
        if (smaller < value && literal(smaller)) return;
      }
      return;
    }
    const ir::Literal* lit = std::get_if<ir::Literal>(&expr);
    if (lit != nullptr && lit->type == ir::DataType::I32) {
      if (lit->low != 0 && literal(0)) return;
      if (lit->low != 0 && lit->low != 1) literal(1);
      return;
    }
    bool is_literal = lit != nullptr;
    // Its lanes are made smaller one by one; a one in the place of zeros would go back and forth.
    if (const ir::Pack* pack = std::get_if<ir::Pack>(&expr)) {
      is_literal = std::ranges::all_of(program().operands(pack->lanes),
                                       [&](ExprId lane) { return ir::literal_u32(program().expr(lane)).has_value(); });
    }
    if (literal(0) || is_literal) return;
    if (literal(1)) return;
    std::vector<ExprId> operands;
    ir::for_each_operand(program(), id, [&](ExprId operand) { operands.push_back(operand); });
    for (const ExprId operand : operands) {
      if (types[operand] != type) continue;
      Edits edits(program());
      edits.exprs[id].by = operand;
      if (accept(edits)) return;
    }
  }

  void drop_buffers() {
    for (std::size_t k = program().buffers().size(); k-- > 0 && left_ > 0;) {
      const std::string name = program().buffers()[k].name;
      Edits edits(program());
      edits.buffers.erase(edits.buffers.begin() + static_cast<std::ptrdiff_t>(k));
      Case candidate = best_;
      candidate.program = apply(*program_, edits);
      for (std::size_t call = 0; call < calls(candidate); ++call) {
        std::erase_if(arrays_of(candidate, call), [&](const Array& array) { return array.buffer == name; });
      }
      accept(std::move(candidate));
    }
    for (std::size_t k = 0; k < program().buffers().size(); ++k) {
      const ir::BufferDecl decl = program().buffers()[k];  // accepting a candidate replaces the program
      for (const std::uint32_t count : {1u, decl.count / 2, decl.count - 1}) {
        if (ir::is_bound(decl.access) || count == 0 || count >= program().buffers()[k].count) continue;
        Edits edits(program());
        edits.buffers[k].count = count;
        accept(edits);
      }
      Edits edits(program());
      if (ir::is_bound(decl.access)) edits.buffers[k].count = 0;
      edits.buffers[k].output = false;
      accept(edits);
    }
  }

  void shrink_sizes() {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      for (bool smaller = true; smaller && left_ > 0;) {
        smaller = false;
        const std::uint32_t size = program().workgroup_size()[axis];
        for (const std::uint32_t less : {1u, size / 2, size - 1}) {
          if (less == 0 || less >= size) continue;
          Edits edits(program());
          edits.workgroup_size[axis] = less;
          if ((smaller = accept(edits))) break;
        }
      }
      for (bool smaller = true; smaller && left_ > 0;) {
        smaller = false;
        const std::uint32_t count = best_.grid[axis];
        for (const std::uint32_t less : {1u, count / 2, count - 1}) {
          if (less == 0 || less >= count) continue;
          Case candidate = best_;
          candidate.grid[axis] = less;
          if ((smaller = accept(std::move(candidate)))) break;
        }
      }
    }
  }

  const ir::BufferDecl& decl_of(const Array& array) const {
    return *std::find_if(program().buffers().begin(), program().buffers().end(),
                         [&](const auto& decl) { return decl.name == array.buffer; });
  }

  void shrink_arrays() {
    for (std::size_t k = 0; k < best_.arrays.size(); ++k) {
      const std::size_t element = element_bytes(k);
      for (bool smaller = true; smaller && left_ > 0 && decl_of(best_.arrays[k]).count == 0;) {
        smaller = false;
        const std::size_t elements = best_.arrays[k].bytes.size() / element;
        for (const std::size_t fewer : {std::size_t{1}, elements / 2, elements - 1}) {
          if (fewer == 0 || fewer >= elements) continue;
          Case candidate = best_;
          for (std::size_t call = 0; call < calls(candidate); ++call) arrays_of(candidate, call)[k].bytes.resize(fewer * element);
          if ((smaller = accept(std::move(candidate)))) break;
        }
      }
      for (std::size_t call = 0; call < calls(best_); ++call) clear(call, k, element);
    }
  }

  // Zeros, in halves, quarters ... of the array.
  void clear(std::size_t call, std::size_t k, std::size_t element) {
    const std::size_t size = best_.arrays[k].bytes.size();
    for (std::size_t run = size; run >= element && left_ > 0; run /= 2) {
      for (std::size_t at = 0; at < size && left_ > 0; at += run) {
        Case candidate = best_;
        auto& bytes = arrays_of(candidate, call)[k].bytes;
        std::fill(bytes.begin() + static_cast<std::ptrdiff_t>(at), bytes.begin() + static_cast<std::ptrdiff_t>(std::min(at + run, size)),
                  std::byte{0});
        if (!accept(std::move(candidate)) && run == element && size <= kWordsTried * element) one(call, k, at);
      }
    }
  }

  // The smallest value that is not zero, in the place of a larger one.
  void one(std::size_t call, std::size_t k, std::size_t at) {
    Case candidate = best_;
    const std::span<std::byte> bytes(arrays_of(candidate, call)[k].bytes);
    const std::span<std::byte> element = bytes.subspan(at, std::min(element_bytes(k), bytes.size() - at));
    if (std::all_of(element.begin(), element.end(), [](std::byte byte) { return byte == std::byte{0}; })) return;
    std::fill(element.begin(), element.end(), std::byte{0});
    element[0] = std::byte{1};
    accept(std::move(candidate));
  }

  std::size_t element_bytes(std::size_t k) const { return std::max<std::size_t>(ir::min_bytes(decl_of(best_.arrays[k]).element), 1); }

  const std::function<bool(const Case&)>& still_fails_;
  const ir::OpTable& ops_;
  validate::Options options_;
  std::uint32_t left_, tries_;
  Case best_;
  std::optional<validate::ValidProgram> program_;
  bool progress_ = false;
};

}  // namespace

Reduced reduce(const Case& first, const std::function<bool(const Case&)>& still_fails, const ir::OpTable& ops, std::uint32_t tries) {
  return Reducer(first, still_fails, ops, tries).run();
}

}  // namespace vyre::fuzz
