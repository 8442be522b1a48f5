// What lowering does for the sake of speed alone. Each can be switched off; every combination gives the same bytes. Users meet them as rows
// of run/speedups.def.
#pragma once

namespace vyre::lower {

struct Options {
  bool passes = true;         // runs the passes of the optimiser first
  bool proofs = true;         // leaves out comparisons of indices that are known to be below a length
  bool straightening = true;  // makes selects of small Ifs, and values where they are needed
  bool operator==(const Options&) const = default;
};

}  // namespace vyre::lower
