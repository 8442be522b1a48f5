// Which values and which control flow are the same for a whole workgroup (docs/semantics.md, Barriers are reached by all).
#pragma once

#include <vector>

#include "vyre/validate/gathered.hpp"

namespace vyre::validate {

// A barrier that only a part of a workgroup may reach, and why.
struct DivergentBarrier {
  NodeId barrier;
  // The outermost If or Loop around the barrier, or around `returned`, whose condition or bounds differ in a workgroup; invalid where it is
  // a Break that parts them.
  NodeId guard;
  NodeId returned;  // the Return before it that only a part may take; invalid when the barrier itself is guarded
  NodeId broken;    // the Break by which only a part may leave the outermost Loop around the barrier, or around `returned`, that has one
  NodeId loop;      // that Loop
};

// In program order.
std::vector<DivergentBarrier> divergent_barriers(const Gathered& program);

}  // namespace vyre::validate
