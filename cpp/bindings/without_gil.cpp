#include "bindings/without_gil.hpp"

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "vyre/base/fork.hpp"

namespace vyre::python {
namespace {

std::atomic<bool> asked_to_stop{false};
std::atomic<int> running{0};

}  // namespace

WithoutGil::Counted::Counted() { ++running; }
WithoutGil::Counted::~Counted() { --running; }

WithoutGil::Parked::~Parked() {
  if (!leaving()) return;  // first, because the system calls below are slow on emulated systems
  const bool main_thread = gettid() == getpid();
  if (main_thread) return;
  --running;
  for (;;) pause();
}

bool leaving() { return asked_to_stop; }

void end_calls() {
  constexpr auto kPatience = std::chrono::seconds(5);
  asked_to_stop = true;
  const py::gil_scoped_release release;
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (running > 0 && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

void forget_calls_when_forked() {
  when_forked([] { running = 0; });
}

}  // namespace vyre::python
