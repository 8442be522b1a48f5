// Valid operations and programs: what keeps every rule, with its facts. Only validation makes them (gate.hpp), and every later stage takes
// one.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "vyre/ir/op_spec.hpp"
#include "vyre/ir/program.hpp"
#include "vyre/validate/facts.hpp"

namespace vyre::validate {

// An operation whose body keeps the rules (V034 and all that hold for programs), with its facts.
class ValidOp {
 public:
  const ir::OpSpec& spec() const { return *spec_; }
  const ir::OpTable::Spec& shared_spec() const { return spec_; }
  const ir::Program& body() const { return *spec_->function().body; }
  const Facts& facts() const { return facts_; }
  // Parameter k of the operation is LocalId{k}; the result is the local of the body's last statement.
  LocalId result() const { return facts_.statements[NodeId{static_cast<std::uint32_t>(facts_.statements.size() - 1)}].local; }
  // Covers the operation and every operation that it reaches.
  std::uint64_t hash() const { return hash_; }

 private:
  friend class Gate;
  ValidOp() = default;
  ir::OpTable::Spec spec_;
  Facts facts_;
  std::uint64_t hash_ = 0;
};

// A program that keeps every rule, with its facts. Cheap to copy.
class ValidProgram {
 public:
  const ir::Program& program() const { return *program_; }
  const Facts& facts() const { return *facts_; }
  // The program's buffers that are neither Workgroup nor Private in declaration order: slot k of every backend is bound()[k].
  const std::vector<BufferId>& bound() const { return *bound_; }
  // Covers the program and every operation that it reaches: the key of caches and certificates.
  std::uint64_t hash() const;

 private:
  friend class Gate;
  ValidProgram() = default;
  std::shared_ptr<const ir::Program> program_;
  std::shared_ptr<const Facts> facts_;
  std::shared_ptr<const std::vector<BufferId>> bound_;
};

// `own` is the hash of an operation or program alone; the result covers those that it calls as well.
std::uint64_t hash_with_callees(std::uint64_t own, std::span<const std::shared_ptr<const ValidOp>> callees);

}  // namespace vyre::validate
