// Keeps one record of each operation that a program reaches, however many calls lead to it.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "vyre/validate/finding.hpp"
#include "vyre/validate/gathered.hpp"
#include "vyre/validate/valid.hpp"

namespace vyre::validate {

struct OpBody {
  // Deeper than any limit: the depth of a cycle, and of what reaches one.
  static constexpr std::uint32_t kEndless = ~0u;

  ir::OpTable::Spec spec;
  // The rest is found by examine().
  std::unique_ptr<Gathered> gathered;  // null until then, and for operations that cannot be inlined
  std::uint32_t depth = 1;             // of calls, this one included
  std::vector<Finding> findings;       // what breaks a rule in the body, in program order
  // The first of these findings other than V017. Every call of the operation reports it; whether a call breaks V017 follows from `depth`.
  std::optional<Finding> cause;
  std::shared_ptr<const ValidOp> valid;
};

class OpBodies {
 public:
  // `candidate` is an operation that is not in the table yet; its body may call it, which is a cycle.
  explicit OpBodies(const ir::OpTable& table, ir::OpTable::Spec candidate = nullptr) : table_(table), candidate_(std::move(candidate)) {}

  const ir::OpTable& table() const { return table_; }
  // Returns null for an unknown operation.
  OpBody* find(std::string_view id);

 private:
  OpBody* record(const ir::OpTable::Spec& spec);

  const ir::OpTable& table_;
  ir::OpTable::Spec candidate_;
  std::unordered_map<const ir::OpSpec*, std::unique_ptr<OpBody>> records_;
};

}  // namespace vyre::validate
