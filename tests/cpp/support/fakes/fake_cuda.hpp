// A CUDA driver without a GPU: memory of the host, one order of work, and kernels that a backend of the host runs. It fails on command, and
// keeps the books of what is created and destroyed. Made from the table of functions that the backend uses, so that it is complete.
//
// The driver gets kernels as text. It runs those whose programs it was told of before; every other text loads and does nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "vyre/run/backend.hpp"
#include "vyre/run/cuda/api/library.hpp"
#include "vyre/validate/validate.hpp"

namespace vyre::test {

// One at a time: the driver's functions carry no context, so there is one such driver a process.
class FakeCuda {
 public:
  explicit FakeCuda(int devices = 1);
  FakeCuda(const FakeCuda&) = delete;
  FakeCuda& operator=(const FakeCuda&) = delete;
  ~FakeCuda();

  run::cuda::Library library() const;

  // Every function of the table, in its order.
  static std::vector<std::string> functions();
  // The kernels of the program are run by the cpu backend from now on: the plain, the coarsened and the counted one. A launch that is not
  // the first of a grid runs all workgroups before it once more.
  void knows(const validate::ValidProgram& program, const run::Optimize& optimize = {});

  // The nth call of a function from now on (1: the next) gives `result` and does nothing; `work()` ends the order.
  void fail(std::string_view function, int nth, CUresult result);
  void work();
  // Whether the ordered failure has happened.
  bool failed() const;

  // Every call for the device's context gives `result`, until the context is released by all and retained anew.
  void lose(int device, CUresult result);
  // For each operation of the graph that was captured last, the operations that come right before it.
  std::vector<std::vector<std::size_t>> last_graph() const;

  // What is enqueued while this is on is not done until release().
  void hold();
  void release();
  // Does so many operations of what is held, the first ones of each stream.
  void let_pass(int operations);
  // The device takes so many nanoseconds for each operation, and none for an event.
  static constexpr std::int64_t kOperationTime = 1000;
  // Lets time pass on the device in which it does nothing.
  void pass_time(std::int64_t nanoseconds);
  // The time of the device, in nanoseconds.
  std::int64_t time() const;
  // What the driver tells of an attribute of its devices.
  void set_attribute(int attribute, int value);
  void set_version(int version);
  // Registers and bytes of local memory that an invocation takes.
  struct Compiled {
    int registers = 40, local_bytes = 30;
    bool operator==(const Compiled&) const = default;
  };
  // Sets what the compiler gives from now on: `limited` for a text that wants `workgroups` resident, and `plain` for any other.
  void set_compiled(const Compiled& plain, int workgroups, const Compiled& limited);

  int calls(std::string_view function) const;
  // The calls that came from other threads than the one that asks.
  int calls_elsewhere(std::string_view function) const;
  // The calls of these functions, in their order.
  std::vector<std::string> order(const std::vector<std::string>& functions) const;
  void forget_calls();
  // Calls of the function do not return until resume(); those of other functions do.
  void stall(std::string_view function);
  // Waits until a call is stalled.
  void wait_until_stalled() const;
  void resume();
  // One line for each kind of object that is not destroyed.
  std::vector<std::string> leaks() const;
};

}  // namespace vyre::test
