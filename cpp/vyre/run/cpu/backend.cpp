// A call cuts its grid into batches (batches.hpp). The caller's thread and, when the call takes a while, parked workers (workers.hpp) take
// one batch after the other (nodes.hpp) and run the program's code over it, each thread on a machine of its own.
//
// A program is lowered and compiled once for any words of its Uniform buffers, and once more for words that come often (Specialization).
// The interpreter runs a call if the time that it has spent on the program so far, plus its estimated time for this call, is less than the
// time to generate machine code (work.hpp).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <mutex>
#include <new>
#include <variant>

#include "vyre/base/assert.hpp"
#include "vyre/base/error.hpp"
#include "vyre/base/few.hpp"
#include "vyre/base/refused.hpp"
#include "vyre/emit/interface.hpp"
#include "vyre/lower/lower.hpp"
#include "vyre/run/checks/checks.hpp"
#include "vyre/run/cpu/batches.hpp"
#include "vyre/run/cpu/code.hpp"
#include "vyre/run/cpu/cpu.hpp"
#include "vyre/run/cpu/machine.hpp"
#include "vyre/run/cpu/pace.hpp"
#include "vyre/run/cpu/work.hpp"
#if VYRE_NATIVE
#include "vyre/run/cpu/native/native.hpp"
#include "vyre/run/cpu/native/perf_map.hpp"
#endif
#include "vyre/run/deadline.hpp"
#include "vyre/run/host/host_parts.hpp"
#include "vyre/run/host/host_storage.hpp"
#include "vyre/run/host/nodes.hpp"
#include "vyre/run/host/processors.hpp"
#include "vyre/run/host/workers.hpp"
#include "vyre/run/profile.hpp"
#include "vyre/run/recording.hpp"
#include "vyre/run/specialization.hpp"

namespace vyre::run {
namespace cpu {
namespace {

// The most bytes that the registers of one batch may take. The documents set no limit.
constexpr std::uint64_t kMaxRegisterBytes = std::uint64_t{4} << 30;

// The number of invocations that a program must have run with the same words before it is compiled for them (Specialization). Compiling
// takes a fraction of a millisecond.
constexpr std::uint64_t kEnoughInvocations = std::uint64_t{1} << 16;

// The number of turns that the estimate of the interpreter's time assumes for a loop of unknown length. The words that the
// interpreter really computes are added to the estimates of later calls.
constexpr std::uint64_t kUnknownTurns = 256;

// The most work of a short call: the instructions of one invocation times the number of invocations. Machine code without loops does it
// within a few microseconds, or within tens of them if every access misses the caches.
constexpr std::uint64_t kShortWork = std::uint64_t{1} << 15;

// The caches and the nodes of memory that CpuOptions give in place of the system's.
struct Memories {
  std::optional<std::uint64_t> caches;
  std::optional<Nodes> nodes;
};

#if VYRE_NATIVE
// The vectors that machine code uses; none where all programs are interpreted.
using NativeVectors = std::optional<native::Vectors>;

NativeVectors native_vectors(std::string_view instructions) {
  for (const native::Vectors vectors : native::available_vectors()) {
    if (native::name(vectors) == instructions) return vectors;
  }
  return std::nullopt;
}

// Names the vectors that machine code uses on this processor, or the reason why programs are interpreted.
std::string about_machine_code(const NativeVectors& vectors) {
  if (!vectors && native::available_vectors().empty()) return "none: the processor lacks SSE4.1";
  if (!vectors) return "none: the vectors `baseline` were asked for";
  constexpr std::byte kReturn[] = {std::byte{0xc3}};
  if (native::CodePages::make(kReturn) == nullptr) return "none: the system executes nothing that a process has written";
  return std::string(native::name(*vectors));
}
#else
using NativeVectors = std::monostate;
NativeVectors native_vectors(std::string_view) { return {}; }
std::string about_machine_code(const NativeVectors&) { return "none: this build makes none"; }
#endif

// The state that the threads of a call share.
template <class Batches>
class Call {
 public:
  Call(const Batches& batches, const Nodes& nodes, unsigned threads, const RunOptions& options)
      : batches_(batches), threads_(threads), shares_(batches.count(), nodes, threads), deadline_(deadline_of(options)) {}

  // Runs all batches on this thread, and on up to `threads_` - 1 helpers if the remaining batches take long enough to be worth waking them.
  // Returns the number of words that the interpreter has computed, or 0 for machine code.
  template <class MakeMachine>
  std::uint64_t run(const MakeMachine& make_machine) {
    const std::function<bool()> stop_caller = [&] { return look(); };
    auto machine = make_machine(stop_caller);
    batches_.prepare(machine);
    auto work = [&] { help(make_machine); };
    Helpers helpers(work);
    const StopAtEnd stop_at_end{stop_};
    const std::uint64_t others = std::min<std::uint64_t>(threads_, batches_.count()) - 1;
    // A long call does not run its first batch alone to find out how long it takes.
    if (others != 0 && estimated_time() >= 2 * kWorthWaking * others) helpers.ask(static_cast<unsigned>(others));
    const Clock::time_point start = batches_.count() == 1 ? Clock::time_point() : Clock::now();
    Pace pace(start);
    Shares::Taker taker(shares_);
    for (std::uint64_t done = 1;; ++done) {
      const std::optional<std::uint64_t> index = taker.next();
      if (!index || stop_.load(std::memory_order_relaxed)) break;
      batches_.run(machine, *index);
      if (machine.stopped() || done == batches_.count()) break;
      // Machine code looks at the deadline in its loops alone.
      if (pace.is_due(done)) {
        const Clock::time_point now = Clock::now();
        if (now - start >= kPollInterval && look()) break;
        pace.looked(done, now);
      }
      if (others != 0 && !helpers.asked()) {
        // Until now this thread has done every batch.
        const std::uint64_t left = batches_.count() - done;
        const auto needs = (Clock::now() - start) * left / done;
        helpers.ask(static_cast<unsigned>(std::min<std::uint64_t>({others, left, static_cast<std::uint64_t>(needs / kWorthWaking)})));
      }
    }
    // A helper may be in a long batch, so the caller goes on checking whether the call must end.
    while (!helpers.done_within(deadline_.slice())) look();
    if (helpers.lost()) {
      throw forked("a call on the cpu backend began");
    }
    count_words(machine);
    return words_;
  }

  // Throws if the call was interrupted or took too long.
  void check_end() const { deadline_.end_with(end_, Awaited::Cpu); }

 private:
  using Clock = Deadline::Clock;
  // A thread is woken only if at least this much work is left for it. A woken thread starts some microseconds later, and up to tens of
  // microseconds later on a virtual machine.
  static constexpr auto kWorthWaking = std::chrono::microseconds(20);

  // Stops the helpers when an exception ends the call.
  struct StopAtEnd {
    std::atomic<bool>& stop;
    ~StopAtEnd() { stop = true; }
  };

  // How long the batches take one after the other, a guess; 0 if it is not known.
  std::chrono::nanoseconds estimated_time() const {
    if constexpr (requires { batches_.estimated_time(); }) return batches_.estimated_time();
    return std::chrono::nanoseconds(0);
  }

  // Returns whether the call must end. Runs on the caller's thread.
  bool look() {
    if (end_ == Deadline::End::None) end_ = deadline_.reached();
    if (end_ != Deadline::End::None) stop_ = true;
    return stop_;
  }

  void count_words(const auto& machine) {
    if constexpr (requires { machine.words(); }) words_ += machine.words();
  }

  template <class MakeMachine>
  void help(const MakeMachine& make_machine) {
    try {
      const std::function<bool()> stop = [&] { return stop_.load(std::memory_order_relaxed); };
      auto machine = make_machine(stop);
      batches_.prepare(machine);
      Shares::Taker taker(shares_);
      while (!stop_.load(std::memory_order_relaxed)) {
        const std::optional<std::uint64_t> index = taker.next();
        if (!index) break;
        batches_.run(machine, *index);
      }
      count_words(machine);
    } catch (const std::bad_alloc&) {
      // This happens before the first batch of this thread, so the other threads do all the work.
    }
  }

  const Batches& batches_;
  const unsigned threads_;
  Shares shares_;
  const Deadline deadline_;
  std::atomic<bool> stop_{false};
  std::atomic<std::uint64_t> words_{0};
  Deadline::End end_ = Deadline::End::None;
};

constexpr char kName[] = "this processor";
const DeviceLabel kDevice = {"cpu", 0, kName};

class CpuExecutable : public Executable {
 public:
  CpuExecutable(const validate::ValidProgram& program, const Lanes& lanes, NativeVectors vectors, unsigned threads,
                const Memories& memories, const Optimize& options)
      : program_(std::make_shared<validate::ValidProgram>(program)),
        lanes_(lanes),
        vectors_(vectors),
        threads_(threads),
        memories_(memories),
        nodes_(memories_.nodes ? *memories_.nodes : nodes_of_this_process()),
        options_(options),
        specialization_(program, options),
        plain_(compiled(specialization_.program())) {}

  void run(std::span<const BufferView> buffers, Grid grid, const RunOptions& options) override {
    check_in_order(options, "cpu");
    VYRE_ASSERT(buffers.size() == program_->bound().size());
    if (grid.x == 0 || grid.y == 0 || grid.z == 0) return;
    try {
      run_checked(buffers, grid, options);
    } catch (const std::bad_alloc&) {
      throw no_memory("the host", "the cpu backend's registers and copies of the buffers");
    }
  }

  bool is_short(Grid grid) const override {
#if VYRE_NATIVE
    const native::NativeCode* const code = plain_->ready.load(std::memory_order_acquire);
    if (code == nullptr || code->loops || code->whole_workgroups || code->layout.privates != 0) return false;
    if (!specialization_.parts().empty()) return false;
    const auto& size = plain_->kernel.workgroup_size;
    std::uint64_t work = code->work;
    for (const std::uint64_t extent : {grid.x, grid.y, grid.z, size[0], size[1], size[2]}) {
      if (__builtin_mul_overflow(work, extent, &work)) return false;
    }
    return work <= kShortWork;
#else
    (void)grid;
    return false;
#endif
  }

 private:
  struct Compiled {
    lower::Kernel kernel;
    Code code;
#if VYRE_NATIVE
    // Made when the program has run for long enough. Null when it cannot be made.
    std::once_flag native_once;
    std::unique_ptr<const native::NativeCode> native;
    std::atomic<const native::NativeCode*> ready = nullptr;  // `native`, once it is complete
    std::uint64_t work = 1;                                  // about how many instructions an invocation runs (work_of)
    std::atomic<std::uint64_t> words = 0;                    // computed by the interpreter so far, plus kWordsOfCall for each call
#endif
  };

  struct Special {
    std::atomic<bool> tried = false;
    std::unique_ptr<Compiled> owned;
    std::atomic<Compiled*> compiled = nullptr;  // `owned`, once it is complete; null if compiling failed
  };

  std::unique_ptr<Compiled> compiled(const validate::ValidProgram& program) const {
    check_host_limits(program, "the cpu backend");
    auto made = std::make_unique<Compiled>();
    Compiled& result = *made;
    {
      const Span span("lower");
      result.kernel = lower::lower(program, options_, lower::kCpuTarget);
    }
    {
      const Span span("compile");
      result.code = compile(result.kernel);
    }
#if VYRE_NATIVE
    result.work = work_of(result.kernel, kUnknownTurns);
#endif
    const ir::WorkgroupSize& size = program.program().workgroup_size();
    const std::uint64_t invocations = std::uint64_t{size[0]} * size[1] * size[2];
    const std::uint64_t bytes = (std::uint64_t{result.code.vectors} + 3 * std::uint64_t{result.code.depth}) * invocations * sizeof(Word);
    if (result.code.whole_workgroups) {
      check_limit(bytes, kMaxRegisterBytes, "the limit of values", "the cpu backend", "bytes of values a workgroup",
                  "use a smaller workgroup_size");
    }
    return made;
  }

#if VYRE_NATIVE
  static bool is_worth_compiling(const Compiled& compiled, Grid grid) {
    const Batches batches(compiled.code, compiled.kernel, grid);
    const std::uint64_t now = words_of_call(compiled.work, grid, compiled.kernel.workgroup_size, batches.capacity());
    return compiled.words.load(std::memory_order_relaxed) + now >= words_of_compiling(compiled.kernel.code.size());
  }

  // Counts what the interpreter has computed in a call.
  static void count_words(Compiled& compiled, std::uint64_t words) {
    compiled.words.fetch_add(words + kWordsOfCall, std::memory_order_relaxed);
  }

  // Runs machine code, if the program has any or gets it now. Returns false where the interpreter has to run the call.
  bool run_native(Compiled& compiled, std::span<const Memory> memory, Grid grid, const RunOptions& options) const {
    if (!vectors_ || !options_.compilation) return false;
    if (compiled.ready.load(std::memory_order_acquire) == nullptr && !options_.everywhere && !is_worth_compiling(compiled, grid)) {
      return false;
    }
    std::call_once(compiled.native_once, [&] {
      const Span span("compile");
      const bool perf = native::perf_map_wanted();
      compiled.native = native::compile_native(compiled.kernel, *vectors_, perf ? native::Backing::Anonymous : native::Backing::SealedFile);
      if (perf && compiled.native != nullptr) {
        const native::CodePages& pages = *compiled.native->pages;
        native::add_to_perf_map(pages.start(), pages.bytes(), fmt::format("vyre:{:016x}", program_->hash()));
      }
      compiled.ready.store(compiled.native.get(), std::memory_order_release);
    });
    if (compiled.native == nullptr || !native::can_run(compiled.kernel, memory)) return false;
    const native::NativeBatches batches(*compiled.native, compiled.kernel, grid);
    Call call(batches, nodes_, threads_, options);
    call.run([&](const std::function<bool()>& stop) {
      return native::NativeThread(*compiled.native, compiled.kernel, memory, stop, memories_.caches);
    });
    call.check_end();
    return true;
  }
#else
  bool run_native(Compiled&, std::span<const Memory>, Grid, const RunOptions&) const { return false; }
  static void count_words(Compiled&, std::uint64_t) {}
#endif

  // Returns the code that a call with these buffers runs: specialized for the words of its Uniform buffers, or `plain_`.
  Compiled& compiled_for(std::span<const BufferView> buffers, Grid grid) {
    if (specialization_.parts().empty()) return *plain_;
    const auto chosen = specialization_.choose(specialization_.words(buffers), grid, 1, kEnoughInvocations);
    if (!chosen) return *plain_;
    Special& special = special_[*chosen];
    // The first call compiles the specialized program. Calls that come meanwhile run `plain_`, which gives the same bytes.
    if (!special.tried.exchange(true)) {
      try {
        special.owned = compiled(specialization_.program(*chosen));
        special.compiled = special.owned.get();
      } catch (const std::exception&) {
        // Calls with these words go on running `plain_`.
      }
    }
    Compiled* const known = special.compiled;
    return known != nullptr ? *known : *plain_;
  }

  void run_checked(std::span<const BufferView> buffers, Grid grid, const RunOptions& options) {
    Compiled& compiled = compiled_for(buffers, grid);
    const lower::Kernel& kernel = compiled.kernel;
    const Code& code = compiled.code;
    // Unless the call is in place, the program works on copies of its ReadWrite buffers, so that the caller's bytes change only if the
    // call succeeds. Buffers that are not aligned to their elements or to words, or are shorter than kMinBufferBytes, are copied as well.
    Few<Memory> memory(buffers.size());
    std::vector<std::optional<Words>> copies;  // empty, or one for each buffer
    for (std::size_t slot = 0; slot < buffers.size(); ++slot) {
      const std::span<std::byte> bytes = buffers[slot].bytes;
      const lower::KernelBuffer& buffer = kernel.buffers[slot];
      const std::size_t alignment = buffer.narrow != 0 ? buffer.narrow : alignof(Word);
      const bool misplaced = reinterpret_cast<std::uintptr_t>(bytes.data()) % alignment != 0 || bytes.size() < kMinBufferBytes;
      auto* words = reinterpret_cast<Word*>(bytes.data());
      if (misplaced || (buffer.writable && !options.in_place)) {
        copies.resize(buffers.size());
        copies[slot].emplace((std::max<std::size_t>(bytes.size(), kMinBufferBytes) + sizeof(Word) - 1) / sizeof(Word));
        words = copies[slot]->data();
        host_copy(words, bytes.data(), bytes.size());
      }
      memory[slot] = {words, buffers[slot].length, buffer.lanes, buffer.atomic, static_cast<std::uint8_t>(buffer.narrow), buffer.extend};
    }

    {
      const DispatchSpan span(kDevice, program_, grid, buffers);
      if (!run_native(compiled, memory.all(), grid, options)) {
        const Batches batches(code, kernel, grid);
        Call call(batches, nodes_, threads_, options);
        const std::uint64_t words = call.run(
            [&](const std::function<bool()>& stop) { return Machine(code, kernel, lanes_, memory.all(), batches.capacity(), stop); });
        count_words(compiled, words);
        call.check_end();
      }
    }

    for (std::size_t slot = 0; slot < copies.size(); ++slot) {
      if (kernel.buffers[slot].writable && copies[slot] && !buffers[slot].bytes.empty()) {
        host_copy(buffers[slot].bytes.data(), copies[slot]->data(), buffers[slot].bytes.size());
      }
    }
  }

  const ProfiledProgram program_;
  const Lanes& lanes_;
  const NativeVectors vectors_;
  const unsigned threads_;
  const Memories memories_;
  const Nodes& nodes_;
  const Optimize options_;
  Specialization specialization_;
  const std::unique_ptr<Compiled> plain_;
  std::array<Special, Specialization::kMost> special_;
};

class CpuBackend : public Backend {
 public:
  // `refusal` is what an ArgumentError says at each use of the backend, where the environment asks for what there is not: the import of
  // the library cannot fail for it, because other backends work.
  CpuBackend(const Lanes& lanes, unsigned threads, Memories memories, std::string refusal = {})
      : lanes_(lanes),
        vectors_(native_vectors(lanes.name)),
        threads_(threads),
        memories_(std::move(memories)),
        refusal_(std::move(refusal)) {}

  std::string_view name() const override { return "cpu"; }
  bool is_host() const override { return true; }
  std::vector<std::string> reasons_unavailable() override { return {}; }
  std::vector<DeviceInfo> devices() override {
    DeviceInfo device;
    device.name = kName;
    device.driver = fmt::format("vyre, {}, {} thread{}", lanes_.name, threads_, threads_ == 1 ? "" : "s");
    device.kind = "cpu";
    device.usable = device.is_default = true;
    device.probes = {{"machine_code", refusal_.empty() ? about_machine_code(vectors_) : "refused: " + refusal_}};
    device.limits = {{"maxComputeWorkGroupInvocations", kMaxHostInvocations}, {"maxComputeSharedMemorySize", kMaxHostWorkgroupBytes}};
    return {device};
  }
  std::unique_ptr<Executable> prepare(const validate::ValidProgram& program, std::optional<std::size_t> device, const Optimize& options,
                                      const RunOptions&) override {
    check_only_device(device, name());
    check_instructions();
    return std::make_unique<CpuExecutable>(program, lanes_, vectors_, threads_, memories_, options);
  }
  std::shared_ptr<Recording> record(CallsToRecord calls, const RunOptions&, std::span<const StorageView>) override {
    return record_on_host(std::move(calls), Awaited::Cpu);
  }
  std::unique_ptr<Storage> allocate(std::optional<std::size_t> device, std::uint64_t bytes, bool zeroed) override {
    check_only_device(device, name());
    check_instructions();
    return std::make_unique<HostStorage>(bytes, zeroed);
  }

 private:
  void check_instructions() const {
    if (!refusal_.empty()) throw ArgumentError(refusal_);
  }

  const Lanes& lanes_;
  const NativeVectors vectors_;
  unsigned threads_;
  Memories memories_;
  std::string refusal_;
};

}  // namespace
}  // namespace cpu

std::unique_ptr<Backend> make_cpu_backend(const CpuOptions& options) {
  if (!options.instructions) {
    const cpu::AskedLanes& asked = cpu::asked_lanes();
    return std::make_unique<cpu::CpuBackend>(*asked.lanes, options.threads.value_or(usable_processors()),
                                             cpu::Memories{options.caches, options.nodes}, asked.refusal);
  }
  const auto available = cpu::available_lanes();
  const auto found = std::ranges::find(available, std::string_view(*options.instructions), &cpu::Lanes::name);
  if (found == available.end()) {
    std::string names;
    for (const cpu::Lanes* lanes : available) names += fmt::format("{}`{}`", names.empty() ? "" : ", ", lanes->name);
    throw ArgumentError(must_be("option `instructions` of backend `cpu`", "one of " + names, *options.instructions));
  }
  return std::make_unique<cpu::CpuBackend>(**found, options.threads.value_or(usable_processors()),
                                           cpu::Memories{options.caches, options.nodes});
}

}  // namespace vyre::run
