// The interface between an emitted shader and its host, for SPIR-V and WGSL and every device backend that takes them; PTX has one of its
// own (emit/ptx/code.hpp).
//
// Descriptor set (group) 0: binding k < n is storage buffer slot k, of at least 16 bytes. SPIR-V with check_loops: the binding after these
// is a storage buffer of one u32, set to 1 when a loop was cut. WGSL: binding n is a uniform array<vec4<u32>> of the parameter words.
// SPIR-V with addresses: instead of the n bindings one, binding 0, a storage buffer of two words a slot: the low and the high half of the
// address where the slot's array begins, a multiple of the bytes of its elements, with 16 bytes there that may be read. The addresses are
// in a buffer and not among the push constants, because many devices have 128 bytes of push constants for everything. Parameter words: the
// id of the first workgroup (x, y, z), then the length in elements of each buffer. SPIR-V takes them as push constants. A grid beyond a
// device's limit is several dispatches with other first ids; ids are the same as in one. Entry point: "main".
#pragma once

#include <cstdint>

namespace vyre {

inline constexpr std::uint32_t kFirstGroupWord = 0;  // x, y, z
inline constexpr std::uint32_t kFirstLengthWord = 3;
// WGSL's uniform buffer has lengths from word 4 on, so that they start a vec4.
inline constexpr std::uint32_t kWgslFirstLengthWord = 4;
inline constexpr std::uint64_t kMinBufferBytes = 16;

}  // namespace vyre
