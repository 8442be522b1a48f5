// Holds a SPIR-V module with everything that is needed to run it on a device. Code that works with a Shader needs no knowledge of operators
// and types.
//
// The entry point is "main". Descriptor set 0 holds storage buffers at bindings 0..buffer_count-1. With `has_status`, binding buffer_count
// is one u32, which the module sets when the driver ended one of its loops early. The push constants are the u32 words [base_x, base_y,
// base_z, length_0 .. length_{buffer_count-1}]: the workgroup at which the dispatch begins, and the lengths of the buffers in elements.
// With `addressed`, binding 0 holds the addresses of the buffers instead, and the status is at binding 1: see emit/interface.hpp.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace vyre::run::vulkan {

struct Shader {
  std::vector<std::uint32_t> words;
  std::uint32_t buffer_count = 0;
  std::array<std::uint32_t, 3> workgroup_size = {1, 1, 1};
  std::uint64_t workgroup_memory_bytes = 0;
  std::uint64_t private_memory_bytes = 0;  // of an invocation
  bool has_status = false;
  bool addressed = false;
  // For each buffer, whether the shader may write it, so that the host copies it back.
  std::vector<bool> writable;
  // For each buffer, the alignment of its address in bytes. Needed with `addressed`.
  std::vector<std::uint32_t> element_bytes;
  // For each buffer, its name in messages. May be empty.
  std::vector<std::string> names;

  std::uint32_t status_binding() const { return addressed ? 1 : buffer_count; }
  std::uint32_t binding_count() const { return status_binding() + (has_status ? 1 : 0); }
  std::uint32_t push_constant_bytes() const { return 4 * (3 + buffer_count); }
  bool operator==(const Shader&) const = default;
};

}  // namespace vyre::run::vulkan
