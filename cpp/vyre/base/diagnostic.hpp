// A user's mistake in a program: which rule it breaks, the full sentence, and where.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace vyre {

// Where in the program, and where in the user's source when that is known.
struct Place {
  std::string path;  // e.g. "buffers[1]", "workgroup_size[0]", "entry[2].then[0].value.left"
  std::string file;  // empty when unknown
  int line = 0;      // 1-based, 0 when unknown
  int column = 0;    // 1-based, 0 when unknown

  bool operator==(const Place&) const = default;
};

struct Diagnostic {
  std::string rule;     // "V004"
  std::string message;  // "vyre IR validation: load from unknown buffer `x`. Fix: declare it in Program::buffers."
  Place place;

  bool operator==(const Diagnostic&) const = default;
};

using Diagnostics = std::vector<Diagnostic>;

// "V004 at entry[0].value (kernel.py:12:9): vyre IR validation: ..."
std::string to_string(const Diagnostic& diagnostic);

}  // namespace vyre
