// Declares the generator, which holds the state while one case is generated. Its functions are in generate.cpp (statements),
// control_flow.cpp, barriers.cpp, values.cpp (expressions), buffers.cpp (memory) and plant.cpp (defects).
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "vyre/fuzz/case.hpp"
#include "vyre/fuzz/memory.hpp"
#include "vyre/fuzz/random.hpp"
#include "vyre/fuzz/writer.hpp"

namespace vyre::fuzz {

class Generator {
 public:
  Generator(const Random& random, std::uint64_t seed, const Options& options);
  Case run();

 private:
  struct Variable {
    NameId name;
    ir::DataType type;
    bool assignable;
    bool uniform;  // and remains uniform: only uniform values are assigned to it, in uniform control flow
    int level;
  };
  struct Pooled {
    ExprId id;
    int level;
  };

  // A loop whose body is being written.
  struct OpenLoop {
    enum class Breaks : std::uint8_t { None, OfAll, OfSome };
    Breaks breaks;              // by whole workgroups alone; by some invocations only where the body counts as divergent
    int level;                  // of its body
    std::vector<Phase> phases;  // of memory when it began: what follows the loop relies on them
  };

  // buffers.cpp
  void choose_sizes();
  void declare_buffers();
  void choose_length(Memory& memory, Role role);
  Memory& declare(const std::string& stem, ir::BufferAccess access, ir::DataType element, Role role, bool split);
  void leave_idle(Memory& memory);
  void measure();
  void declare_planted();
  void write_ids();
  Arrays arrays();
  // For the calls that follow the first one.
  std::vector<Arrays> later(const Arrays& first);
  ir::DataType any_element(bool with_bytes);
  // The element or, in some programs, a narrow one whose values have the same type.
  ir::DataType perhaps_narrow(ir::DataType element);

  // values.cpp
  ExprId value(ir::DataType type, int depth);
  ExprId leaf(ir::DataType type);
  ExprId compound(ir::DataType type, int depth);
  ExprId condition(int depth);
  ExprId uniform_value(int depth);
  // A value at which an operator has its edges, or any.
  ExprId operand(ir::BinOp op, bool left, ir::DataType type, int depth);
  // A word that the host gives each call anew; invalid without such a buffer.
  ExprId parameter(ir::DataType type);
  ExprId varied(ir::DataType type, int depth);  // another one for each invocation, mostly
  ExprId sum_of_u64(int depth);
  ExprId try_binary(ir::DataType type, int depth);
  ExprId try_unary(ir::DataType type, int depth);
  ExprId try_select(ir::DataType type, int depth);
  ExprId try_cast(ir::DataType type, int depth);
  ExprId try_lane(ir::DataType type, int depth);
  ExprId try_pack(ir::DataType type, int depth);
  ExprId try_load(ir::DataType type, int depth);
  ExprId try_atomic(ir::DataType type, int depth);
  ExprId try_call(ir::DataType type, int depth);
  ExprId call(const ir::OpSpec& spec, std::uint32_t cost, std::span<const ExprId> arguments);
  ExprId var(const Variable& variable);
  ExprId as_u32(ExprId value);

  // generate.cpp
  void statements(std::uint32_t count);
  void statement();
  void let();
  void assign();
  void undo();
  void store();
  void use_atomic();
  void settle();
  void sink();
  void spend(ExprId id);
  std::string fresh_name();
  NameId declare_variable(ir::DataType type, bool assignable, bool uniform);
  int some_depth() { return static_cast<int>(random_.below(5)); }

  // control_flow.cpp
  // Runs `write` one level deeper and leaves the roles of memory as they were.
  void body(bool uniform, std::uint32_t rounds, const std::function<void()>& write);
  void branch();
  void loop();
  void block();
  bool leave();
  bool leave_loop();

  // barriers.cpp
  bool may_wait() const { return uniform_ && !returned_ && !options_.independent; }
  bool barrier();
  bool exchange();
  void fill(const Memory& memory);
  void change_roles();
  void drop_fleeting();

  // plant.cpp
  void plant();
  void plant_here();
  NodeId plant_barrier();
  ExprId at(const Memory& memory, ExprId index);  // of this workgroup's part
  ExprId turned(std::uint32_t by);                // (local + by) % invocations
  NodeId here();
  void store_planted(ExprId value);
  // No other code may write there, because that could hide a dependence on the order from the output.
  bool is_planted_sink(const Memory& memory) const { return options_.plant && &memory == &memory_[planted_sink_]; }

  Random random_;
  // Chooses features that the IR got later. They appear in half of the programs; random numbers of their own keep the other programs as
  // their seeds have always made them.
  Random later_random_;
  bool grows_;
  // Chooses narrow elements in the same way.
  Random narrow_random_;
  bool narrows_;  // some buffers have them
  // Chooses, in the same way, loops that are left behind another one, which only some of their invocations leave early.
  Random exit_random_;
  bool exits_;
  Options options_;
  std::uint64_t seed_;
  bool clean_;
  ir::WorkgroupSize size_{1, 1, 1};
  Grid grid_{1, 1, 1};
  Writer writer_;
  Ids ids_;
  Indices indices_;
  std::vector<Memory> memory_;
  std::vector<Variable> variables_;
  std::vector<Pooled> pool_;
  std::vector<std::string> retired_;  // names that are no longer in scope

  int level_ = 0;
  bool uniform_ = true;    // all of the workgroup is here, or none
  bool alone_ = false;     // one invocation a workgroup: everything is uniform
  bool returned_ = false;  // a part of the workgroup may have returned
  bool ended_ = false;     // the list of statements ended with a Return or a Break
  bool may_return_ = true;
  std::uint64_t rounds_ = 1;  // of all open loops
  std::uint64_t left_ = 0;    // instructions of an invocation that may still be spent
  int exprs_left_ = 0;        // expressions that this statement may still make
  std::uint32_t barriers_ = 0;
  std::vector<OpenLoop> loops_;
  std::vector<std::uint32_t> open_;  // of each open body, how many barriers there were before
  std::optional<Variable> total_;    // what became of the variables that are out of scope
  std::uint32_t names_ = 0;
  std::uint32_t statements_left_ = 0;
  std::optional<Planted> planted_;
  std::size_t planted_memory_ = 0, planted_sink_ = 0;
};

}  // namespace vyre::fuzz
