// The preparation that a run and a checked run share: code within the reference's limits, and copies of the buffers that it may write.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "vyre/run/backend.hpp"
#include "vyre/run/reference/code.hpp"
#include "vyre/run/reference/machine.hpp"
#include "vyre/validate/validate.hpp"

namespace vyre::run::reference {

// Throws CapabilityError, and LoweringError for calls that no backend could expand.
Code compile_within_limits(const validate::ValidProgram& program);

// Programs work on copies of ReadWrite buffers, so that no byte of the caller changes unless the call succeeds.
class Copies {
 public:
  // `buffers` must outlive the copies.
  Copies(const validate::ValidProgram& program, std::span<const BufferView> buffers);

  // By BufferId; Workgroup buffers have only their length.
  const std::vector<Memory>& memory() const { return memory_; }
  // The copy of bound buffer `slot`; empty unless the buffer is ReadWrite.
  std::span<const std::byte> bytes(std::size_t slot) const { return bytes_[slot]; }
  void write_back() const;

 private:
  std::span<const BufferView> buffers_;
  std::vector<Memory> memory_;
  std::vector<std::vector<std::byte>> bytes_;
};

}  // namespace vyre::run::reference
