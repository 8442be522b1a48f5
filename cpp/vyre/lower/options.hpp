// The steps of lowering that only make kernels faster. Each can be switched off, and the results of a program have the same bytes with
// every combination. Users see the steps as rows of run/speedups.def.
#pragma once

namespace vyre::lower {

struct Options {
  bool passes = true;         // runs the passes of the optimiser first
  bool proofs = true;         // leaves out what ranges decide, such as the check of an index that is in range
  bool straightening = true;  // turns short Ifs into selects, and moves values to their first use
  bool operator==(const Options&) const = default;
};

}  // namespace vyre::lower
