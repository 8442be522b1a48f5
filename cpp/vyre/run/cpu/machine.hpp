// Runs compiled code over one batch of invocations after another. Each thread has its own machine.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "vyre/run/cpu/code.hpp"
#include "vyre/run/cpu/work.hpp"
#include "vyre/run/host/host_memory.hpp"

namespace vyre::run::cpu {

struct Memory {
  Word* words = nullptr;
  Word length = 0;  // elements
  Word lanes = 1;   // of an element
  bool atomic = false;
  // The size of an element of 1 or 2 bytes, or 0 for elements of words; and how loads extend small elements.
  std::uint8_t narrow = 0;
  ir::Extend extend{};
};

// An array of words that starts at a multiple of kAlignment. Throws std::bad_alloc when there is no memory. The last kGroup words are
// zeros. The others are not initialised, because every use writes them first, and clearing them would cost as much as the work.
class Words {
 public:
  explicit Words(std::size_t count);
  Word* data() const { return reinterpret_cast<Word*>(memory_.data()); }

 private:
  HostMemory memory_;
};

class Machine {
 public:
  // A batch has at most `capacity` lanes. `stop` is called about every millisecond; when it returns true, the run ends early. All arguments
  // must outlive the machine.
  Machine(const Code& code, const lower::Kernel& kernel, const Lanes& lanes, std::span<const Memory> buffers, std::size_t capacity,
          const std::function<bool()>& stop);

  // The register of an id, to be filled before run(); a vector has `capacity` words.
  Word* vector(std::uint32_t reg) { return vectors_.data() + std::size_t{reg} * stride_; }
  Word& scalar(std::uint32_t reg) { return scalars_[reg & ~kScalar]; }
  // Fills the first `count` lanes of a vector register with first, first + 1 and so on; lanes beyond them may change.
  void count_up(std::uint32_t reg, Word first, std::size_t count);
  // Sets whether the ids that Row names rise by one from lane to lane in the next batches.
  void set_rows(bool invocation, bool local) {
    in_row_[static_cast<std::size_t>(Row::Invocation)] = invocation;
    in_row_[static_cast<std::size_t>(Row::Local)] = local;
  }

  // Runs the first `lanes` lanes, whose private arrays begin as zeros. Shared arrays must be as clear_shared() leaves them. Allocates
  // nothing, so a batch that has begun is completed, unless `stop` ends it.
  void run(std::size_t lanes);
  void clear_shared();
  bool stopped() const { return stopped_; }
  // Counts the words that all runs have computed so far, as work.hpp counts them.
  std::uint64_t words() const { return spent_; }

 private:
  // The work, as spent_ counts it, between two calls of `stop`.
  static constexpr std::uint64_t kBetweenLooks = std::uint64_t{1} << 21;

  // An open If or Loop in which control flow may diverge.
  struct Frame {
    enum class Taken : std::uint8_t { None, All, Some };
    const Word* before;   // the mask around it
    std::uint64_t exits;  // Machine::exits() when it was opened
    std::size_t loop;     // the index of the frame of the innermost Loop, which may be this one; kNoLoop for none
    Taken taken = Taken::Some;
    bool broken = false;  // of a Loop: some lanes have left it by a Break
  };
  static constexpr std::size_t kNoLoop = ~std::size_t{0};
  // The masks of a frame: the active lanes, the lanes that take the Else, and the lanes that go on after the block. A Loop has no Else; its
  // second mask holds the lanes that have not left it by a Break, and is valid once a lane has.
  enum : std::size_t { kActive, kRest, kAfter, kFrameMasks, kStaying = kRest };
  Word* alive() { return masks_.data(); }  // the lanes that have not returned; valid once one has
  Word* frame_mask(std::size_t depth, std::size_t which) { return masks_.data() + (1 + kFrameMasks * depth + which) * stride_; }

  // Lane i of an operand is address(reg)[i * step(reg)].
  const Word* address(std::uint32_t reg) { return is_scalar(reg) ? &scalar(reg) : vector(reg); }
  static std::size_t step(std::uint32_t reg) { return is_scalar(reg) ? 0 : 1; }

  // A quotient or a remainder of numbers of two words.
  void divide(const Instruction& i, std::size_t lanes);

  // Accesses to memory (machine_memory.cpp).
  void load(const Instruction& i, const Memory& memory, std::size_t lanes);
  void store(const Instruction& i, const Memory& memory, std::size_t lanes);
  void load_once(const Instruction& i, const Memory& memory);
  void store_once(const Instruction& i, const Memory& memory);
  void atomic(const Instruction& i, const Memory& memory, std::size_t lanes);
  void load_private(const Instruction& i, const Memory& memory, std::size_t lanes);
  void store_private(const Instruction& i, const Memory& memory, std::size_t lanes);
  template <bool bounded>
  void load_each(const Instruction& i, const Memory& memory, std::size_t lanes);
  template <bool bounded>
  void store_each(const Instruction& i, const Memory& memory, std::size_t lanes);
  template <class Element>
  void load_narrow(const Instruction& i, const Memory& memory, std::size_t lanes);
  template <class Element>
  void store_narrow(const Instruction& i, const Memory& memory, std::size_t lanes);
  // Whether the indices rise by one from lane to lane.
  bool is_row(const Instruction& i, const Word* index, std::size_t lanes) const;

  // Control flow (machine_control.cpp). A bool result says whether a lane is active afterwards. `count` is `lanes`, rounded up to whole
  // groups.
  bool enter_if(const Instruction& i, std::size_t lanes);
  bool enter_else();
  bool enter_loop(const Instruction& i, std::size_t lanes, std::size_t count);
  bool enter_round(const Instruction& i, std::size_t lanes, std::size_t count);
  bool leave(std::size_t lanes);
  void return_active(std::size_t lanes, std::size_t count);
  void break_active(const Instruction& i, std::size_t lanes, std::size_t count);
  // Takes the active lanes out of a mask.
  void take_out(Word* mask, std::size_t lanes, std::size_t count);
  std::uint64_t exits() const { return returns_ + breaks_; }
  std::size_t loop_around() const { return frames_.empty() ? kNoLoop : frames_.back().loop; }

  // Adds the work of `instructions` over `lanes` lanes to spent_. Returns false when the run must end.
  bool spend(std::uint64_t instructions, std::uint64_t lanes) {
    spent_ += instructions * (lanes + kDispatchWords);
    if (spent_ < next_look_) return true;
    next_look_ = spent_ + kBetweenLooks;
    stopped_ = stopped_ || stop_();
    return !stopped_;
  }

  const Code& code_;
  const Lanes& lanes_;
  std::span<const Memory> buffers_;
  std::vector<Memory> shared_;
  std::vector<Words> shared_words_;
  // Word w of the array of lane l is words[w * stride_ + l], so that lanes that use one index use neighbouring words.
  std::vector<Memory> privates_;
  std::vector<Words> private_words_;
  const std::function<bool()>& stop_;
  std::size_t stride_;
  Words vectors_;
  Words masks_;
  std::vector<Word> scalars_;
  std::vector<Frame> frames_;   // of the open blocks
  const Word* mask_ = nullptr;  // the mask of the active lanes; null when all are active
  std::uint64_t returns_ = 0;   // how many Returns this run has done
  std::uint64_t breaks_ = 0;    // how many Breaks that took lanes out of a Loop this run has done
  std::uint64_t spent_ = 0;
  std::uint64_t next_look_ = kBetweenLooks;  // `stop` is called again when spent_ reaches this
  bool stopped_ = false;
  std::array<bool, kRows> in_row_{};
};

}  // namespace vyre::run::cpu
