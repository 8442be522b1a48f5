// Makes Programs from handles. Here Python's operators get their meaning by the types of their operands, and integers without a type get
// the type that stands opposite (python/vyre/reference.md, Operators by type). A Program knows explicit operators and typed literals alone.
#pragma once

#include <span>
#include <vector>

#include "vyre/ir/handles/handle.hpp"
#include "vyre/ir/handles/mistake.hpp"
#include "vyre/ir/handles/surroundings.hpp"
#include "vyre/ir/program.hpp"

namespace vyre::ir {

struct Resolved {
  Program program;
  std::vector<Mistake> mistakes;  // in the order of the statements; the program means nothing unless this is empty
};

// A handle used twice becomes one expression, or one for each of the types that its variables have where it is used; a statement handle
// used twice becomes two statements. Throws ArgumentError when either makes millions of them.
Resolved resolve(const std::vector<BufferDecl>& buffers, WorkgroupSize workgroup_size, std::span<const NodeHandle> entry,
                 const Surroundings& surroundings, SourcePlace place = {});

// Makes a program of handles that use no operators of Python and no integers without a type.
Program make_program(const std::vector<BufferDecl>& buffers, WorkgroupSize workgroup_size, std::span<const NodeHandle> entry,
                     SourcePlace place = {});

// A program that spells such operators and integers as calls, for the binary form: entry_handles() of it gives the same handles again.
Program spell_out(std::span<const NodeHandle> entry);

}  // namespace vyre::ir
