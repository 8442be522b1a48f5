// Writes the hint of a finding: what to write in Python, with the user's own names. It chooses the HINT of rules.def that fits the cause,
// and fills it. Only programs that break a rule come here, so nothing is gathered before a finding asks for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "vyre/validate/gathered.hpp"
#include "vyre/validate/report.hpp"
#include "vyre/validate/uniformity.hpp"

namespace vyre::validate {

class Hints {
 public:
  explicit Hints(const Gathered& gathered) : gathered_(gathered), program_(*gathered.program) {}

  // Must be called with all findings before the first hint is asked for. A hint does not quote an expression that another finding is about.
  void about(const std::vector<Finding>& findings);

  // Returns the hint, or the empty string if the message says everything. `at` is the statement of the finding, if it is in one.
  std::string operator()(const Finding& finding, NodeId at);

 private:
  // A Let or Loop of a name, and the statements that may name it.
  struct Binding {
    NodeId statement;
    std::uint32_t first_seen, last_seen;  // statements by number
    NodeId opener;                        // the If, Loop or Block that it stands in; invalid in the entry
  };
  struct Scopes {
    std::unordered_map<NameId, std::vector<Binding>> of;
    std::unordered_map<NodeId, NodeId> openers;  // of Ifs, Loops and Blocks
  };

  std::string code(StepId id, std::string_view otherwise) const;
  std::string converted(ir::DataType want, StepId id, std::string_view otherwise) const;
  std::string place(NodeId statement, NodeId at) const;

  // hint_buffers.cpp
  std::string undeclared_buffer(NameId name);
  std::string bytes_buffer(const ir::BufferDecl& decl, Hint bound, Hint memory) const;
  ir::BufferDecl declared(BufferId id, ir::BufferAccess access, ir::DataType element) const;
  ir::BufferDecl as_storage(const ir::BufferDecl& decl);
  ir::BufferDecl with_atomics(const ir::BufferDecl& decl) const;
  ir::BufferDecl unique(BufferId id);                                    // with a name and a binding of its own
  const std::unordered_map<std::string_view, std::uint32_t>& buffers();  // the first of each name
  std::uint32_t free_binding(std::string_view name);
  const std::unordered_map<std::uint32_t, std::uint32_t>& first_with_binding();

  // hint_names.cpp
  std::string undeclared_variable(NameId name, NodeId at, bool assigned);
  std::string duplicate_local(NodeId at);
  std::string loop_variable(NodeId at) const;
  std::string unknown_op(StepId id);
  std::string new_name(std::string_view like) const;  // `like` itself when nothing has it
  std::string unused_name(std::string_view like) const;
  std::optional<std::string_view> similar(std::string_view name, const std::vector<std::string_view>& known);
  const Scopes& scopes();

  // hint_barriers.cpp
  std::string barrier(NodeId at);
  std::string left_loop(const DivergentBarrier& found);
  std::string negated(StepId id) const;

  // hint_types.cpp
  std::string unsupported_cast(StepId id) const;
  std::string narrowed(ir::DataType element, ir::DataType source, StepId value) const;
  std::string binary_operator(StepId id, Hint hint) const;
  std::string lane_of_pack(StepId id, std::string_view message) const;
  std::string argument(StepId id, std::string_view message) const;

  // The most comparisons of names in a program, counted in letters, so that the time stays in proportion to the program's size however many
  // names are wrong. A program of 100,000 misspellings gets suggestions for the first of them.
  static constexpr std::size_t kMostComparisons = 500'000;

  const Gathered& gathered_;
  const ir::Program& program_;
  std::unordered_map<std::string, std::uint32_t> free_bindings_;  // those given away, by the name of the buffer
  std::uint32_t next_binding_ = 0;
  std::optional<std::unordered_map<std::uint32_t, std::uint32_t>> bindings_;
  std::optional<std::unordered_map<std::string_view, std::uint32_t>> buffers_;
  std::optional<std::unordered_map<NameId, ir::DataType>> written_;  // buffers that are stored to or changed by atomics, with their types
  std::optional<Scopes> scopes_;
  std::optional<std::unordered_map<NodeId, DivergentBarrier>> barriers_;
  std::unordered_set<ExprId> wrong_;  // the expressions that findings are about
  std::optional<std::vector<std::string>> op_ids_;
  std::size_t comparisons_ = 0;
  NodeId bound_;  // the Loop of the last finding about a bound; a second finding about one Loop is about its `to`
};

}  // namespace vyre::validate
