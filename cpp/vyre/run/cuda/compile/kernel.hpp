// Translates a program to code for CUDA devices, and loads that code on one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "vyre/emit/ptx/code.hpp"
#include "vyre/run/backend.hpp"
#include "vyre/run/cuda/submit/stream.hpp"
#include "vyre/validate/validate.hpp"

namespace vyre::run::cuda {

// PTX with what its loader must know.
struct Source {
  ptx::Code code;
  // Every launch has the largest grid that is possible. Workgroups beyond the counts along x, y and z, which three words in memory hold, do
  // nothing (ptx::Options).
  bool counted_grid = false;
  std::vector<bool> writable;                         // by buffer
  std::vector<std::uint32_t> element_bytes;           // by buffer: the alignment of its address
  std::uint64_t shared_bytes = 0, private_bytes = 0;  // of a workgroup, and of an invocation
  bool operator==(const Source& other) const { return code.text == other.code.text; }
};

// Throws LoweringError.
Source translate(const validate::ValidProgram& program, const Optimize& options, bool counted_grid);
// Translates to code in which each workgroup does the work of `ways` workgroups along x. Returns nothing for a program that cannot be
// coarsened.
std::optional<Source> translate_coarsened(const validate::ValidProgram& program, std::uint32_t ways, const Optimize& options);

class Kernel {
 public:
  // Compiles the code, or takes it from the file that an earlier process left. Throws CapabilityError when it exceeds a limit of the
  // device.
  Kernel(Context& context, Stream& stream, const Source& source);
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;
  ~Kernel();

  const Source& source() const { return source_; }
  CUfunction function() const { return function_; }
  // Reports that a submission uses the kernel.
  void used_until(TimelineValue value) const { raise(last_use_, value); }
  // Whether the driver has accepted a launch of the kernel. At the first launch only, the driver may load the code and allocate memory for
  // it.
  bool was_launched() const { return was_launched_; }
  void launched() const { was_launched_ = true; }
  // Returns what the driver reports about the compiled code.
  std::vector<DriverFact> facts() const;

 private:
  struct Module;
  // The code that the driver has compiled from the text, and the loaded function.
  struct Made {
    std::vector<std::byte> code;
    std::unique_ptr<Module> module;
    CUfunction function = nullptr;
  };
  // How much of a multiprocessor the kernel keeps busy.
  std::vector<DriverFact> occupancy() const;
  std::uint32_t resident(CUfunction function) const;
  std::uint32_t attribute(int which, CUfunction function) const;
  std::vector<std::byte> compiled(const std::string& text) const;
  Made loaded(std::vector<std::byte> code) const;
  Made made() const;
  bool fits_once_more(const Made& made) const;
  void use(Made made);

  Context& context_;
  Stream& stream_;
  const Source source_;
  std::unique_ptr<Module> module_;
  CUfunction function_ = nullptr;
  mutable std::atomic<TimelineValue> last_use_ = 0;
  mutable std::atomic<bool> was_launched_ = false;
};

}  // namespace vyre::run::cuda
