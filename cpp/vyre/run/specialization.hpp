// Decides for which words of Uniform buffers a program is compiled: words that decide something (transform/specialize.hpp) and that come
// often. A backend only gets the number of the kernel on which a call should run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <span>
#include <vector>

#include "vyre/base/fork.hpp"
#include "vyre/run/backend.hpp"
#include "vyre/transform/specialize.hpp"
#include "vyre/validate/validate.hpp"

namespace vyre::run {

// Safe from every thread.
class Specialization {
 public:
  // The most sets of words for which one program is compiled: each set takes as much time and memory as the program itself.
  static constexpr std::size_t kMost = 4;
  using Words = std::vector<std::uint32_t>;

  // Prepares the program, unless specialization is off or the program has no words. Throws LoweringError.
  Specialization(const validate::ValidProgram& program, const Optimize& options);

  // An element that decides something.
  struct Part {
    std::size_t slot;
    std::uint64_t offset;  // into the buffer's bytes
    std::uint32_t lanes;   // words
    bool truth;            // only whether the words are zero matters
  };
  // Empty if no element decides anything, or if specialization is off: the program then has one kernel.
  std::span<const Part> parts() const { return parts_; }

  // The deciding words of a call. They are zeros for elements beyond the end of a buffer, as for loads.
  Words words(std::span<const BufferView> buffers) const;
  // Appends the words of one part, from the bytes of its buffer.
  static void append(Words& words, const Part& part, std::span<const std::byte> bytes);

  // Counts `calls` calls of `grid` with these words. Returns the number, below kMost, of the kernel for these words once they have come in
  // four calls and `enough` invocations in all. Returns nothing before that, and if kMost other sets of words came often enough first.
  std::optional<std::size_t> choose(const Words& words, Grid grid, std::uint64_t calls, std::uint64_t enough);
  // The program to compile for any words. Where it is prepared, lowering it has little left to do.
  const validate::ValidProgram& program() const { return program_; }
  // The program to compile for a number that choose() gave.
  validate::ValidProgram program(std::size_t number) const;

 private:
  struct Candidate {
    Words words;
    std::uint64_t calls = 0, invocations = 0;
  };

  const bool everywhere_;
  const ir::WorkgroupSize workgroup_size_;
  validate::ValidProgram program_;
  std::vector<transform::UniformElement> elements_;
  std::vector<Part> parts_;
  std::size_t word_count_ = 0;
  mutable ForkSafeMutex mutex_;
  std::vector<Words> chosen_;
  std::list<Candidate> candidates_;  // most recently counted first
};

}  // namespace vyre::run
