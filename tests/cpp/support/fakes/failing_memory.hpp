// Lets memory run out at each allocation of a piece of work in turn. It replaces operator new: include it in exactly one file of a
// program.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <new>
#include <string>
#include <string_view>

#include "support/fakes/allocation_count.hpp"
#include "vyre/base/error.hpp"

namespace vyre::test {

// `work` does one stage and gives back something that its result is known by. Of slow work only every step-th allocation is tried,
// unless VYRE_EVERY_ALLOCATION=1 (make test-sanitize).
inline void fails_cleanly_at_each_allocation(const std::function<std::uint64_t()>& work, std::ptrdiff_t step = 1) {
  const char* every = std::getenv("VYRE_EVERY_ALLOCATION");
  if (every != nullptr && std::string_view(every) == "1") step = 1;
  const std::uint64_t wanted = work();  // what is made once and kept is made now
  for (const auto kind : {FailingMemory::Kind::Once, FailingMemory::Kind::Exhausted}) {
    SCOPED_TRACE(kind == FailingMemory::Kind::Once ? "one allocation fails" : "all fail from one on");
    bool failed = true;
    std::ptrdiff_t nth = 1;
    for (; failed && !testing::Test::HasFailure(); nth += step) {
      SCOPED_TRACE("allocation " + std::to_string(nth));
      std::string otherwise;
      std::uint64_t result = wanted;
      const std::ptrdiff_t before = allocations.live;
      try {
        const FailingMemory failing(nth, kind);
        result = work();
      } catch (const std::bad_alloc&) {
      } catch (const DeviceMemoryError&) {
      } catch (const std::exception& error) {
        otherwise = error.what();
      }
      failed = FailingMemory::has_failed();
      ASSERT_EQ(otherwise, "");
      ASSERT_EQ(result, wanted) << "a failure that is not reported must make no difference";
      const std::uint64_t next = work();  // makes again what a failed call did not leave for reuse
      const std::ptrdiff_t lost = allocations.live - before;
      EXPECT_EQ(next, wanted) << "the next call";
      // What is made anew may be tighter than what had grown, so it can be less than before.
      EXPECT_LE(lost, 0) << "bytes are lost";
    }
    EXPECT_GT(nth, 2) << "nothing was allocated";
  }
}

}  // namespace vyre::test
