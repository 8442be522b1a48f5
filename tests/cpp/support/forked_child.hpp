// Asks a question of a forked child.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

namespace vyre {

// Runs `good` in a forked child, and returns the child's exit status: 0 if it was true. A signal ends a child that hangs.
inline int status_of_child(const std::function<bool()>& good) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    _exit(good() ? 0 : 1);
  }
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return status;
}

}  // namespace vyre
