// One walker for all: what a root reaches, operands first, left to right, each expression once, at any depth and with any
// amount of sharing.
#pragma once

#include <span>
#include <vector>

#include "vyre/base/id.hpp"
#include "vyre/ir/program.hpp"

namespace vyre::ir {

// Keeps its marks between roots, so that "each once" can span a statement (call `forget` between statements) or a program.
class PostOrder {
 public:
  explicit PostOrder(std::size_t exprs) : marks_(exprs, 0) {}

  // Starts a new set of visited expressions in O(1).
  void forget() { ++epoch_; }
  bool visited(ExprId id) const { return marks_[id.index] == epoch_; }

  // Calls visit(ExprId) for every expression that `root` reaches and that was not visited since the last forget().
  // `operands(ExprId, push)` calls push(ExprId) for each operand, in evaluation order.
  template <class Operands, class Visit>
  void operator()(ExprId root, Operands&& operands, Visit&& visit) {
    stack_.clear();
    push(root);
    while (!stack_.empty()) {
      Frame& top = stack_.back();
      if (top.expanded) {
        const ExprId id = top.id;
        stack_.pop_back();
        if (!visited(id)) {
          marks_[id.index] = epoch_;
          visit(id);
        }
        continue;
      }
      top.expanded = true;
      if (visited(top.id)) {
        stack_.pop_back();
        continue;
      }
      const std::size_t base = stack_.size();
      operands(top.id, [&](ExprId operand) {
        if (!visited(operand)) push(operand);
      });
      // The last pushed is taken first, so the first operand must be on top.
      for (std::size_t low = base, high = stack_.size(); low + 1 < high; ++low, --high) std::swap(stack_[low], stack_[high - 1]);
    }
  }

 private:
  struct Frame {
    ExprId id;
    bool expanded;
  };
  void push(ExprId id) { stack_.push_back({id, false}); }

  std::vector<std::uint32_t> marks_;
  std::uint32_t epoch_ = 1;
  std::vector<Frame> stack_;
};

// The expressions that one statement evaluates, in evaluation order: visit(ExprId).
template <class Visit>
void for_each_evaluated(const Program& program, const Node& node, PostOrder& walk, Visit&& visit) {
  walk.forget();
  for_each_root(node, [&](ExprId root) {
    walk(
        root, [&](ExprId id, auto&& push) { for_each_operand(program, id, push); }, visit);
  });
}

}  // namespace vyre::ir
