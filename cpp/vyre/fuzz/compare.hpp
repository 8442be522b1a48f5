// Runs a case in several ways and reports where the bytes first differ from the reference's, or from another way's.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "vyre/fuzz/case.hpp"
#include "vyre/run/backend.hpp"
#include "vyre/validate/validate.hpp"

namespace vyre::fuzz {

// One way to run a program. The reference, which never optimises, is given the optimised program.
struct Way {
  run::Backend* backend = nullptr;
  std::optional<std::size_t> device;
  run::Schedule schedule;
  run::Optimize optimize = run::all_off();
};

// "reference, reversed, optimised", "vulkan, with proofs, coarsening"
std::string to_string(const Way& way);

// How long one call may take. A generated program takes about a millisecond; what is left of one may loop for ever.
using Patience = std::chrono::duration<double>;
inline constexpr Patience kPatience = std::chrono::seconds(60);

// The arrays after the first call. Throws what the backend throws.
Arrays run_case(const Case& that, const validate::ValidProgram& program, const Way& way);
// Runs every call of the case on one executable and gives `take` the arrays after each; `take` returns whether to go on.
void run_calls(const Case& that, const validate::ValidProgram& program, const Way& way,
               const std::function<bool(std::size_t call, Arrays after)>& take, Patience patience = kPatience);

struct Difference {
  std::size_t call = 0;
  std::string buffer;
  std::uint64_t word = 0;  // from the buffer's start
  std::uint32_t expected = 0, got = 0;
};
// Arrays are compared by name, as those of call 0.
std::optional<Difference> first_difference(std::span<const Array> expected, std::span<const Array> got);

struct Judgement {
  enum class Kind : std::uint8_t {
    Agrees,
    Refused,  // a limit of the device, or a driver known not to keep its word: neither right nor wrong
    Differs,
    Failed,  // with an error that no valid program may meet
  };
  Kind kind = Kind::Agrees;
  std::string way, message;
  std::optional<Difference> difference;
  std::optional<std::size_t> index;  // of the way; none for the one that the others are compared with
  std::uint64_t output = 0;          // a hash of that one's arrays of all calls, the same on every machine; 0 if it failed
};

// Called before each run, with 0 for the way that the others are compared with, and with k + 1 for ways[k].
using Entering = std::function<void(std::size_t)>;

// The reference that takes its invocations in order and the program as it is.
Way plain_reference();

// Compares each way with `against`, after every call. Stops at the first that differs or fails; one that is refused is reported when the
// others agree. Nothing is compared where `against` itself is refused.
Judgement judge(const Case& that, std::span<const Way> ways, const ir::OpTable& ops, const Entering& entering = {},
                Patience patience = kPatience, const Way& against = plain_reference());
// Judges a case that must give the bytes of another one. Both have equally many calls, and buffers of the same names in any order.
Judgement judge(const Case& that, const Case& tried, std::span<const Way> ways, const ir::OpTable& ops, const Entering& entering = {},
                Patience patience = kPatience, const Way& against = plain_reference());

}  // namespace vyre::fuzz
