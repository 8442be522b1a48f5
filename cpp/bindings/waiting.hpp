// Runs work that may take long: with the GIL released, and interrupted by Ctrl-C and by the interpreter's exit.
#pragma once

#include <optional>

#include "bindings/calls/call.hpp"
#include "bindings/kept.hpp"
#include "bindings/without_gil.hpp"
#include "vyre/base/error.hpp"

namespace vyre::python {

// Calls `work(options)` without the GIL, after setting `options.interrupted`.
template <class Work>
void while_waiting(run::RunOptions options, const Work& work) {
  // Made when `interrupted` is called for the first time, because most calls end before that.
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
