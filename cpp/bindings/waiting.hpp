// How the module calls what may take long: with the GIL released, stopped by Ctrl-C and by the interpreter's end.
#pragma once

#include <optional>
#include <utility>

#include "call.hpp"
#include "kept.hpp"
#include "vyre/base/error.hpp"
#include "without_gil.hpp"

namespace vyre::python {

// Calls `work(options)` without the GIL; how it is interrupted is put there.
template <class Work>
void while_waiting(run::RunOptions options, const Work& work) {
  // Found out when it is asked for the first time: most calls end before.
  std::optional<Signals> signals;
  options.interrupted = [&] {
    if (!signals) {
      const py::gil_scoped_acquire acquire;
      signals.emplace();
    }
    return signals->pending();
  };
  try {
    {
      const WithoutGil unlocked;
      work(options);
    }
    give_back_kept();
  } catch (const Interrupted&) {
    if (signals) signals->rethrow();
    throw;
  }
}

}  // namespace vyre::python
