// Translates a kernel to machine code for this processor, gives a thread the memory to run it, and cuts a grid into batches.
#pragma once

#include <chrono>
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
#include "vyre/run/cpu/native/analysis/analyse.hpp"
#include "vyre/run/cpu/native/code_pages.hpp"
#include "vyre/run/cpu/native/context.hpp"
#include "vyre/run/cpu/native/marks.hpp"
#include "vyre/run/cpu/native/vectors.hpp"

namespace vyre::run::cpu::native {

// The machine code of a kernel, before it is copied to executable memory.
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
  int width = 0, lanes = 0;  // the lanes of a vector, and of a group of vectors
  std::uint32_t padded = 0;  // the lanes of a workgroup, rounded up to whole groups
  std::uint64_t work = 1;    // about how many instructions an invocation runs
  bool loops = false;        // the kernel has loops, so that an invocation may run more than `work`
  Function function() const { return reinterpret_cast<Function>(const_cast<void*>(pages->start())); }
};

// Returns nothing if only the interpreter can run the kernel; `refusal` then says why.
std::optional<Translation> translate(const lower::Kernel& kernel, Vectors vectors, Refusal& refusal);

// Returns null if only the interpreter can run the kernel, or if the system does not let a process execute code that it has written.
std::unique_ptr<const NativeCode> compile_native(const lower::Kernel& kernel, Vectors vectors, Backing backing = Backing::SealedFile);

// Whether the code can run with these buffers. Very long buffers are refused, because the code computes with signed 32-bit indices.
bool can_run(const lower::Kernel& kernel, std::span<const Memory> buffers);

// The memory that one thread needs to run the code.
class NativeThread {
 public:
  // All arguments must outlive it. `stop` is called about every millisecond; when it returns true, the run ends early. `caches` is the
  // size of the last-level caches, by default last_cache_bytes().
  NativeThread(const NativeCode& code, const lower::Kernel& kernel, std::span<const Memory> buffers, const std::function<bool()>& stop,
               std::optional<std::uint64_t> caches = std::nullopt);

  // Runs `lanes` invocations of a row along x; the first of them has the id (x, y, z).
  void run_row(std::uint32_t x, std::uint32_t y, std::uint32_t z, std::uint64_t lanes);
  void run_workgroup(std::uint32_t x, std::uint32_t y, std::uint32_t z);
  bool stopped() const { return context_->stopped != 0; }

 private:
  // The memory inside the object, which may lie on a stack. It is enough for most programs, so that their calls allocate nothing.
  static constexpr std::size_t kInlineBytes = 6144;

  static bool poll(Context* context);
  void execute();

  const NativeCode& code_;
  const lower::Kernel& kernel_;
  const std::function<bool()>& stop_;
  std::optional<Words> allocated_;
  Context* context_;
  bool streams_ = false;  // whether there is an array that may be stored past the caches
  std::span<Word> shared_, privates_;
  alignas(64) std::byte inline_[kInlineBytes];  // not initialised
};

// Cuts a grid into batches, which are numbered from 0. A batch is a part of a row, or some whole rows, or some workgroups.
class NativeBatches {
 public:
  NativeBatches(const NativeCode& code, const lower::Kernel& kernel, Grid grid);
  std::uint64_t count() const { return count_; }
  // How long all batches take one after the other; 0 for kernels with loops, whose turns are seldom known, and for workgroups that run
  // whole. A guess on the low side, by which threads are woken early; a wrong guess costs time alone.
  std::chrono::nanoseconds estimated_time() const;
  void prepare(NativeThread&) const {}
  void run(NativeThread& thread, std::uint64_t index) const;

 private:
  const NativeCode& code_;
  std::uint64_t groups_[3];
  std::uint64_t invocations_[3];
  std::uint64_t lanes_ = 0;    // invocations in a part of a row
  std::uint64_t a_row_ = 1;    // parts in a row
  std::uint64_t at_once_ = 1;  // rows or workgroups in a batch
  std::uint64_t rows_ = 0;
  std::uint64_t count_ = 0;
};

}  // namespace vyre::run::cpu::native
