#include "vyre/run/cpu/native/native.hpp"

#include <immintrin.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "vyre/run/cpu/native/assembler.hpp"
#include "vyre/run/cpu/native/translate/translator.hpp"
#include "vyre/run/cpu/work.hpp"
#include "vyre/run/host/last_cache.hpp"

namespace vyre::run::cpu::native {
namespace {

// The most bytes of Private memory that the invocations running at a time may take together.
constexpr std::uint64_t kMostPrivateBytes = std::uint64_t{1} << 26;
// The size of Context::saved.
constexpr std::size_t kSavedBytes = 4096;
// The work between two calls of `poll` (Context::left), counted as instructions times lanes. It takes about a millisecond.
constexpr std::int64_t kBetweenLooks = std::int64_t{1} << 21;

std::uint64_t array_bytes(const Memory& memory) {
  return memory.length * (memory.narrow != 0 ? std::uint64_t{memory.narrow} : sizeof(Word) * memory.lanes);
}

constexpr std::size_t to_whole_lines(std::size_t value) { return (value + 63) / 64 * 64; }

bool is_supported(const lower::Kernel& kernel) {
  const auto& size = kernel.workgroup_size;
  const std::uint64_t lanes = std::uint64_t{size[0]} * size[1] * size[2];
  return kernel.private_bytes() * std::max<std::uint64_t>(lanes, 64) <= kMostPrivateBytes;
}

// The number of turns that is assumed for a loop of unknown length when the size of a batch is chosen. If the loop turns less often,
// batches are too short to be worth taking; if it turns more often, they are so long that threads wait for the last one.
constexpr std::uint64_t kUnknownTurns = 64;

}  // namespace

std::optional<Translation> translate(const lower::Kernel& given, Vectors vectors, Refusal& refusal) try {
  if (!is_supported(given)) {
    refusal = {"its Private buffers take more than 64 MiB for the invocations that run at a time",
               "declare smaller ones, or a smaller workgroup_size"};
    return std::nullopt;
  }
  const std::optional<Hoisted> hoisted = hoist_loop_invariants(given);
  const lower::Kernel& kernel = hoisted ? hoisted->kernel : given;
  const std::optional<Analysis> analysis = analyse(kernel, vectors, refusal);
  if (!analysis) return std::nullopt;
  Translation result;
  result.whole_workgroups = analysis->whole_workgroups;
  Translator translator(kernel, *analysis, vectors);
  result.code = translator.run();
  result.marks = translator.marks();
  if (hoisted) {
    for (Mark& mark : result.marks) mark.position = hoisted->origin[mark.position];
  }
  result.constants = translator.constants();
  result.layout = translator.layout();
  result.width = translator.width();
  result.lanes = translator.lanes();
  result.padded = translator.padded_lanes();
  return result;
} catch (const Xbyak::Error&) {
  // xbyak has no memory for the code, or the code is too long for a jump.
  refusal = {"its code is too long", "divide it into several programs"};
  return std::nullopt;
}

std::unique_ptr<const NativeCode> compile_native(const lower::Kernel& kernel, Vectors vectors, Backing backing) {
  Refusal refusal;
  const std::optional<Translation> made = translate(kernel, vectors, refusal);
  if (!made) return nullptr;
  auto result = std::make_unique<NativeCode>();
  result->pages = CodePages::make(made->code, backing);
  if (result->pages == nullptr) return nullptr;
  result->layout = made->layout;
  result->whole_workgroups = made->whole_workgroups;
  result->width = made->width;
  result->lanes = made->lanes;
  result->padded = made->padded;
  result->work = work_of(kernel, kUnknownTurns);
  result->loops = std::ranges::any_of(kernel.code, [](const lower::Instruction& i) { return i.op == lower::Opcode::Loop; });
  return result;
}

bool can_run(const lower::Kernel& kernel, std::span<const Memory> buffers) {
  for (std::size_t slot = 0; slot < buffers.size(); ++slot) {
    const std::uint64_t most = kernel.buffers[slot].lanes == 4 ? std::uint64_t{1} << 30 : std::uint64_t{1} << 31;
    if (buffers[slot].length >= most) return false;
  }
  return true;
}

NativeThread::NativeThread(const NativeCode& code, const lower::Kernel& kernel, std::span<const Memory> buffers,
                           const std::function<bool()>& stop, std::optional<std::uint64_t> caches)
    : code_(code), kernel_(kernel), stop_(stop) {
  const std::size_t of_context = sizeof(Context) + sizeof(Extent) * (buffers.size() + kernel.shared.size());
  const std::size_t bytes = to_whole_lines(of_context) + to_whole_lines(code.layout.frame) + to_whole_lines(code.layout.crossing) +
                            to_whole_lines(code.layout.privates) + kSavedBytes + to_whole_lines(kernel.shared_bytes()) +
                            64 * kernel.shared.size() + (code.whole_workgroups ? 3 * sizeof(Word) * code.padded : 0);
  if (bytes > sizeof(inline_)) allocated_.emplace(bytes / sizeof(Word));
  auto* next = allocated_ ? reinterpret_cast<std::byte*>(allocated_->data()) : inline_;
  const auto take = [&](std::size_t size) { return std::exchange(next, next + to_whole_lines(size)); };
  context_ = reinterpret_cast<Context*>(take(of_context));
  std::memset(static_cast<void*>(context_), 0, of_context);
  context_->frame = take(code.layout.frame);
  context_->crossing = take(code.layout.crossing);
  context_->privates = take(code.layout.privates);
  privates_ = {reinterpret_cast<Word*>(context_->privates), code.layout.privates / sizeof(Word)};
  context_->saved = take(kSavedBytes);
  context_->poll = poll;
  context_->user = this;
  context_->left = kBetweenLooks;
  Extent* extent = context_->extents;
  const auto add = [&](void* words, std::uint64_t length) {
    *extent++ = {static_cast<std::byte*>(words), length, static_cast<std::int64_t>(length) - code.lanes,
                 static_cast<std::int64_t>(length) - code.width, 0};
  };
  std::uint64_t all = 0;
  for (const Memory& buffer : buffers) all += array_bytes(buffer);
  if (!caches) caches = all < kLeastLastCache ? kLeastLastCache : last_cache_bytes();
  for (std::size_t slot = 0; slot < buffers.size(); ++slot) {
    add(buffers[slot].words, buffers[slot].length);
    const bool streams = outgrows_caches(array_bytes(buffers[slot]), all, *caches);
    extent[-1].streams = streams ? 1 : 0;
    streams_ = streams_ || streams;
  }
  auto* const shared = reinterpret_cast<Word*>(next);
  for (const lower::SharedArray& array : kernel.shared) add(take(std::size_t{array.lanes} * array.count * sizeof(Word)), array.count);
  shared_ = {shared, reinterpret_cast<Word*>(next)};
  if (!code.whole_workgroups) return;
  const auto& size = kernel.workgroup_size;
  const std::uint32_t lanes = size[0] * size[1] * size[2];
  context_->lanes = lanes;
  auto* const ids = reinterpret_cast<Word*>(next);
  context_->local_ids = ids;
  for (std::uint32_t axis = 0, before = 1; axis < 3; before *= size[axis++]) {
    for (std::uint32_t lane = 0; lane < code.padded; ++lane) ids[axis * code.padded + lane] = lane / before % size[axis];
  }
}

bool NativeThread::poll(Context* context) {
  context->left = kBetweenLooks;
  return static_cast<NativeThread*>(context->user)->stop_();
}

void NativeThread::run_row(std::uint32_t x, std::uint32_t y, std::uint32_t z, std::uint64_t lanes) {
  const auto& size = kernel_.workgroup_size;
  const Word at[3] = {x, y, z};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    context_->invocation[axis] = at[axis];
    context_->workgroup[axis] = at[axis] / size[axis];
    context_->local[axis] = at[axis] % size[axis];
  }
  context_->lanes = lanes;
  execute();
}

// Stores past the caches are seen by other threads after a fence alone.
void NativeThread::execute() {
  code_.function()(context_);
  if (streams_) _mm_sfence();
}

void NativeThread::run_workgroup(std::uint32_t x, std::uint32_t y, std::uint32_t z) {
  const auto& size = kernel_.workgroup_size;
  const Word at[3] = {x, y, z};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    context_->workgroup[axis] = at[axis];
    context_->local[axis] = 0;
    context_->invocation[axis] = at[axis] * size[axis];
  }
  std::ranges::fill(shared_, Word{0});
  std::ranges::fill(privates_, Word{0});
  execute();
}

// A batch has enough work to be worth taking, and not so much that the other threads wait while one thread runs the last batch.
NativeBatches::NativeBatches(const NativeCode& code, const lower::Kernel& kernel, Grid grid)
    : code_(code), groups_{grid.x, grid.y, grid.z} {
  constexpr std::uint64_t kWork = std::uint64_t{1} << 19, kMostLanes = std::uint64_t{1} << 16;
  for (std::size_t axis = 0; axis < 3; ++axis) invocations_[axis] = groups_[axis] * kernel.workgroup_size[axis];
  const std::uint64_t wanted = std::clamp<std::uint64_t>(std::bit_floor(kWork / code.work), 64, kMostLanes);
  const auto product = [](std::uint64_t a, std::uint64_t b) {
    constexpr std::uint64_t kMost = std::uint64_t{1} << 62;  // a run with this many never ends
    return a > kMost / b ? kMost : a * b;
  };
  if (code.whole_workgroups) {
    rows_ = product(product(groups_[0], groups_[1]), groups_[2]);
    at_once_ = std::max<std::uint64_t>(1, wanted / code.padded);
  } else {
    rows_ = product(invocations_[1], invocations_[2]);
    lanes_ = std::min(invocations_[0], wanted);
    a_row_ = (invocations_[0] - 1) / lanes_ + 1;
    at_once_ = a_row_ == 1 ? std::max<std::uint64_t>(1, wanted / lanes_) : 1;
  }
  const std::uint64_t pieces = product(rows_, a_row_);
  count_ = (pieces - 1) / at_once_ + 1;
}

std::chrono::nanoseconds NativeBatches::estimated_time() const {
  constexpr std::uint64_t kLanesInNanosecond = 100, kMost = std::uint64_t{1} << 62;
  if (code_.loops || code_.whole_workgroups) return std::chrono::nanoseconds(0);
  std::uint64_t lanes = code_.work;
  for (const std::uint64_t invocations : invocations_) {
    if (__builtin_mul_overflow(lanes, invocations, &lanes) || lanes > kMost) lanes = kMost;
  }
  return std::chrono::nanoseconds(lanes / kLanesInNanosecond);
}

void NativeBatches::run(NativeThread& thread, std::uint64_t index) const {
  const std::uint64_t end = std::min(rows_ * a_row_, (index + 1) * at_once_);
  for (std::uint64_t piece = index * at_once_; piece < end && !thread.stopped(); ++piece) {
    if (code_.whole_workgroups) {
      thread.run_workgroup(static_cast<Word>(piece % groups_[0]), static_cast<Word>(piece / groups_[0] % groups_[1]),
                           static_cast<Word>(piece / groups_[0] / groups_[1]));
      continue;
    }
    const std::uint64_t first = piece % a_row_ * lanes_, row = piece / a_row_;
    thread.run_row(static_cast<Word>(first), static_cast<Word>(row % invocations_[1]), static_cast<Word>(row / invocations_[1]),
                   std::min(lanes_, invocations_[0] - first));
  }
}

}  // namespace vyre::run::cpu::native
