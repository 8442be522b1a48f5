// Which words of Uniform buffers a program is compiled for: those that decide something (transform/specialize.hpp) and come again and
// again. What it means for a backend is one number: that of the kernel which a call should run on.
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
  // Words for which one program may be compiled: each takes the time and the memory of the program itself.
  static constexpr std::size_t kMost = 4;
  using Words = std::vector<std::uint32_t>;

  // Throws LoweringError.
  Specialization(const validate::ValidProgram& program, const Optimize& options);

  // An element that decides something.
  struct Part {
    std::size_t slot;
    std::uint64_t offset;  // into the buffer's bytes
    std::uint32_t lanes;   // words
    bool truth;            // only whether the words are zero matters
  };
  // Empty when the program has one kernel.
  std::span<const Part> parts() const { return parts_; }

  // The deciding words of a call; zeros for elements outside of a buffer, as loads give.
  Words words(std::span<const BufferView> buffers) const;
  // A part of them, from a buffer's bytes.
  static void append(Words& words, const Part& part, std::span<const std::byte> bytes);

  // Counts so many calls of `grid` with these words. The number of the kernel compiled for them, below kMost; nothing while they did not
  // come often enough: with four calls of `enough` invocations in all.
  std::optional<std::size_t> choose(const Words& words, Grid grid, std::uint64_t calls, std::uint64_t enough);
  // The program to compile for a number that choose() gave.
  validate::ValidProgram program(std::size_t number) const;

 private:
  struct Candidate {
    Words words;
    std::uint64_t calls = 0, invocations = 0;
  };

  const bool everywhere_;
  const ir::WorkgroupSize workgroup_size_;
  std::optional<validate::ValidProgram> program_;
  std::vector<transform::UniformElement> elements_;
  std::vector<Part> parts_;
  std::size_t word_count_ = 0;
  mutable ForkSafeMutex mutex_;
  std::vector<Words> chosen_;
  std::list<Candidate> candidates_;  // the last one first
};

}  // namespace vyre::run
