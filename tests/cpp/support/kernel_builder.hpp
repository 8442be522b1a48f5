// Kernels by hand, for tests of what comes after lowering.
#pragma once

#include <cstdint>

#include "vyre/lower/kernel.hpp"

namespace vyre::test {

class KernelBuilder {
 public:
  using Opcode = lower::Opcode;
  using ValueId = lower::ValueId;

  explicit KernelBuilder(ir::WorkgroupSize size = {1, 1, 1}) { kernel_.workgroup_size = size; }

  std::uint32_t buffer(std::uint32_t lanes, bool writable, bool atomic = false) {
    kernel_.buffers.push_back({lanes, writable, atomic});
    return static_cast<std::uint32_t>(kernel_.buffers.size() - 1);
  }
  std::uint32_t shared(std::uint32_t lanes, std::uint32_t count) {
    kernel_.shared.push_back({lanes, count});
    return static_cast<std::uint32_t>(kernel_.shared.size() - 1);
  }
  std::uint32_t variable(std::uint8_t lanes = 1) {
    kernel_.variables.push_back(lanes);
    return static_cast<std::uint32_t>(kernel_.variables.size() - 1);
  }

  ValueId add(lower::Instruction instruction) {
    kernel_.code.push_back(instruction);
    return ValueId{static_cast<std::uint32_t>(kernel_.code.size() - 1)};
  }
  // One lane, no imm.
  ValueId op(Opcode op, ValueId a, ValueId b = {}, ValueId c = {}) { return add({.op = op, .lanes = 1, .a = a, .b = b, .c = c}); }
  ValueId constant(std::uint32_t bits) { return add({.op = Opcode::Constant, .lanes = 1, .imm = bits}); }
  ValueId leaf(Opcode op, std::uint32_t imm) { return add({.op = op, .lanes = 1, .imm = imm}); }
  ValueId load(std::uint32_t slot, ValueId index) {
    return add({.op = Opcode::LoadBuffer, .lanes = static_cast<std::uint8_t>(kernel_.buffers[slot].lanes), .imm = slot, .a = index});
  }
  void store(std::uint32_t slot, ValueId index, ValueId value) { add({.op = Opcode::StoreBuffer, .imm = slot, .a = index, .b = value}); }
  void if_(ValueId condition) { add({.op = Opcode::If, .a = condition}); }
  void else_() { add({.op = Opcode::Else}); }
  void end_if() { add({.op = Opcode::EndIf}); }
  ValueId loop(ValueId from, ValueId to) { return add({.op = Opcode::Loop, .lanes = 1, .a = from, .b = to}); }
  void end_loop() { add({.op = Opcode::EndLoop}); }
  void return_() { add({.op = Opcode::Return}); }
  void break_() { add({.op = Opcode::Break}); }
  void barrier() { add({.op = Opcode::Barrier}); }

  lower::Kernel finish() {
    kernel_.partner = lower::partners(kernel_.code);
    return kernel_;
  }

 private:
  lower::Kernel kernel_;
};

}  // namespace vyre::test
