// Machine code of a kernel for this processor, and the memory that a thread needs to run it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "vyre/lower/kernel.hpp"
#include "vyre/run/backend.hpp"
#include "vyre/run/cpu/machine.hpp"
#include "vyre/run/cpu/native/analysis.hpp"
#include "vyre/run/cpu/native/code_pages.hpp"
#include "vyre/run/cpu/native/context.hpp"
#include "vyre/run/cpu/native/marks.hpp"
#include "vyre/run/cpu/native/vectors.hpp"

namespace vyre::run::cpu::native {

// What a kernel becomes, before it is put where it can be executed.
struct Translation {
  std::vector<std::byte> code;           // instructions, then constants; it may be placed anywhere
  std::vector<Mark> marks;               // with positions in the kernel that was given; values that no loop changes stand before it
  std::vector<std::uint32_t> constants;  // the offsets of vectors of constants
  Layout layout;
  bool whole_workgroups = false;
  int width = 0, lanes = 0;
  std::uint32_t padded = 0;
};

struct NativeCode {
  std::unique_ptr<CodePages> pages;
  Layout layout;
  bool whole_workgroups = false;
  int width = 0, lanes = 0;  // of a vector, and of a group
  std::uint32_t padded = 0;  // lanes of a workgroup, in whole groups of vectors
  std::uint64_t work = 1;    // about how many instructions an invocation runs
  bool loops = false;        // so that it may run more
  Function function() const { return reinterpret_cast<Function>(const_cast<void*>(pages->start())); }
};

// Nothing where the kernel has something that only the interpreter does; `refusal` then says what.
std::optional<Translation> translate(const lower::Kernel& kernel, Vectors vectors, Refusal& refusal);

// Null where the kernel has something that only the interpreter does, and where the system lets no process execute what it has written.
std::unique_ptr<const NativeCode> compile_native(const lower::Kernel& kernel, Vectors vectors, Backing backing = Backing::SealedFile);

// Whether the code can run with these buffers: it counts elements with signed words.
bool can_run(const lower::Kernel& kernel, std::span<const Memory> buffers);

// One thread's memory for the code.
class NativeThread {
 public:
  // All arguments must outlive it. `stop` is called about every millisecond; when it returns true, the run ends early.
  NativeThread(const NativeCode& code, const lower::Kernel& kernel, std::span<const Memory> buffers, const std::function<bool()>& stop);

  // A part of a row of invocations.
  void run_row(std::uint32_t x, std::uint32_t y, std::uint32_t z, std::uint64_t lanes);
  void run_workgroup(std::uint32_t x, std::uint32_t y, std::uint32_t z);
  bool stopped() const { return context_->stopped != 0; }

 private:
  // What most programs need, so that their calls allocate nothing. Larger arenas never lie on a stack.
  static constexpr std::size_t kInlineBytes = 6144;

  static bool poll(Context* context);

  const NativeCode& code_;
  const lower::Kernel& kernel_;
  const std::function<bool()>& stop_;
  std::optional<Words> allocated_;
  Context* context_;
  std::span<Word> shared_, privates_;
  alignas(64) std::byte inline_[kInlineBytes];  // not initialised
};

// A grid as parts of rows, or as workgroups; numbered from 0.
class NativeBatches {
 public:
  NativeBatches(const NativeCode& code, const lower::Kernel& kernel, Grid grid);
  std::uint64_t count() const { return count_; }
  void prepare(NativeThread&) const {}
  void run(NativeThread& thread, std::uint64_t index) const;

 private:
  const NativeCode& code_;
  std::uint64_t groups_[3];
  std::uint64_t invocations_[3];
  std::uint64_t lanes_ = 0;    // of a batch in a row
  std::uint64_t a_row_ = 1;    // batches in a row
  std::uint64_t at_once_ = 1;  // rows or workgroups in a batch
  std::uint64_t rows_ = 0;
  std::uint64_t count_ = 0;
};

}  // namespace vyre::run::cpu::native
