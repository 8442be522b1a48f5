// A user's mistake in a program: which rule it breaks, the full sentence, where, and what a Python user writes instead.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace vyre {

// Where in the program, and where in the user's source when that is known.
struct Place {
  std::string path;    // e.g. "buffers[1]", "workgroup_size[0]", "entry[2].then[0].value.left"
  std::string file;    // empty when unknown
  int line = 0;        // 1-based, 0 when unknown
  int column = 0;      // 1-based, 0 when unknown; like Python, it counts the bytes of the line in UTF-8
  int end_column = 0;  // one past the last; 0 when unknown or when the code goes on in another line

  bool operator==(const Place&) const = default;
};

struct Diagnostic {
  std::string rule;     // "V004"
  std::string message;  // "vyre IR validation: load from unknown buffer `x`. Fix: declare it in Program::buffers."
  Place place;
  std::string hint{};  // the Fix in Python, with the user's names, ready to paste; empty when the message says it all

  bool operator==(const Diagnostic&) const = default;
};

using Diagnostics = std::vector<Diagnostic>;

// "V004 at entry[0].value (kernel.py:12:9): vyre IR validation: ...", and the hint in a line of its own: "  In Python: ...".
std::string to_string(const Diagnostic& diagnostic);

// Returns the text for a caller who knows the source: `source` names the place ("Cell In[3], line 2"; empty when unknown), and `excerpt`
// has lines of it, which stand between the sentence and the hint.
std::string to_string(const Diagnostic& diagnostic, std::string_view source, std::string_view excerpt);

// "kernel.py:12:9", as far as it is known.
std::string source_text(const Place& place);

}  // namespace vyre
