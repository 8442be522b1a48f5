// The only maker of valid operations and programs.
#pragma once

#include <memory>

#include "vyre/ir/program.hpp"
#include "vyre/validate/gathered.hpp"
#include "vyre/validate/op_bodies.hpp"
#include "vyre/validate/valid.hpp"

namespace vyre::validate {

class Gate {
 public:
  // Both take the facts out of what was gathered. Every callee must be valid.
  static std::shared_ptr<const ValidOp> pass(OpBody& body);
  static ValidProgram pass(const ir::Program& program, Gathered& gathered);

 private:
  static Facts facts(Gathered& gathered);
};

}  // namespace vyre::validate
