// The interface between an emitted shader and its host, for SPIR-V and WGSL and every device backend that takes them; PTX has one of its
// own (emit/ptx/code.hpp).
//
// The entry point is "main". All bindings are in descriptor set (group) 0. Binding k < n is a storage buffer, slot k, of at least 16 bytes.
//   WGSL                     binding n is a uniform array<vec4<u32>> of the parameter words.
//   SPIR-V                   takes the parameter words as push constants.
//   SPIR-V with check_loops  has one more binding, after the others: a storage buffer of one u32, which is set to 1 when a loop was cut.
//   SPIR-V with addresses    has binding 0 in place of the bindings k < n: a storage buffer with two words for each slot, the low and the
//                            high half of the address at which the slot's array begins. The address is a multiple of the bytes of an
//                            element, and at least 16 bytes can be read there. Addresses are no push constants, because many devices have
//                            128 bytes of push constants for everything.
// The parameter words are the id of the first workgroup (x, y, z), then the length of each buffer in elements. A grid beyond a device's
// limit becomes several dispatches with other first ids, so that each invocation has the ids that one dispatch would give it.
#pragma once

#include <cstdint>

namespace vyre {

inline constexpr std::uint32_t kFirstGroupWord = 0;  // x, y, z
inline constexpr std::uint32_t kFirstLengthWord = 3;
// WGSL's uniform buffer has lengths from word 4 on, so that they start a vec4.
inline constexpr std::uint32_t kWgslFirstLengthWord = 4;
inline constexpr std::uint64_t kMinBufferBytes = 16;

}  // namespace vyre
