#include "vyre/run/gpu/once_per_process.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <memory>
#include <stdexcept>
#include <string>

#include "vyre/base/error.hpp"

namespace vyre::run {
namespace {

void allow(pid_t /*process*/) {}

// The exit status of a child that is forked here: 1 if `value` tells it that a driver was being loaded, 0 if not, -1 if a signal ended it.
int told_in_child(const OncePerProcess<int>& value) {
  const pid_t child = fork();
  if (child == 0) {
    bool refused = false;
    try {
      value.check_process(allow);
    } catch (const DeviceError& error) {
      refused = std::string(error.what()) ==
                "a driver was being loaded before this process was forked, and does not survive that. Fix: start worker processes with the "
                "`spawn` method, or make the first call that uses it after the fork.";
    }
    _exit(refused ? 1 : 0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(OncePerProcess, nothing_is_loaded_in_a_child_that_was_forked_while_a_driver_was_being_loaded) {
  OncePerProcess<int> one;
  const OncePerProcess<int> other;
  int told = -1;
  one.get([&] {
    told = told_in_child(other);
    other.check_process(allow);  // this process goes on loading
    return std::make_shared<int>(7);
  });
  EXPECT_EQ(told, 1);
}

TEST(OncePerProcess, another_driver_is_loaded_in_a_child_that_was_forked_before_or_afterwards) {
  OncePerProcess<int> one;
  const OncePerProcess<int> other;
  EXPECT_EQ(told_in_child(other), 0);
  EXPECT_EQ(*one.get([] { return std::make_shared<int>(7); }), 7);
  EXPECT_EQ(told_in_child(other), 0);
  OncePerProcess<int> failing;
  EXPECT_THROW(failing.get([]() -> std::shared_ptr<int> { throw std::runtime_error("no driver"); }), std::runtime_error);
  EXPECT_EQ(told_in_child(other), 0);
}

}  // namespace
}  // namespace vyre::run
