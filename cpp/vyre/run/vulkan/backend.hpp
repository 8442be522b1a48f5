// Runs programs on Vulkan devices. This header is the entry point of the folder. It includes no Vulkan header, because a build without
// SPIR-V defines the same function in run/vulkan_absent.
//
// The life of a call. Executable::run (vulkan_backend.cpp) asks a KernelSource for the kernels that fit the grid and the sizes of the
// arrays. On first use, the KernelSource opens and probes the device (devices/), lowers and emits the program (compile/translate), and has
// the driver compile the SPIR-V words (compile/compiler, compile/pipeline with files on disk). calls/host_call checks the arrays,
// takes memory from the device's heap (memory/heap), copies the arrays in, records dispatches into a command buffer (submit/commands), and
// submits it to the device's stream (submit/stream), which gives every submission a value on one timeline semaphore. The call waits for its
// value (run/gpu/waiting: time-outs and interruptions), and copies the results out once nothing can fail any more. Large calls in place on
// a GPU go another way, in which several threads copy the arrays in chunks.
//
// Arrays that stay on the device are VulkanStorages (calls/storage); memory/transfer copies them where the host cannot reach device memory.
// Calls with such arrays are a VulkanRecording (programs/recording), whose arrays are named when it is submitted: it keeps descriptor sets
// and command buffers for the arrays of the latest submissions. For each of these it makes a RecordedCall of each call
// (calls/recorded_call), and a Batch (calls/batch), which records them into command buffers once, with barriers only where calls conflict
// (run/gpu/hazards), and submits these as often as wanted, without waiting: reads of a storage wait for the last submission that uses it.
// programs/specialized_batch adds variants for words of Uniform buffers that come often.
//
// Each of these folders uses only the folders above it. From calls/ on, they also use device.hpp, which owns the parts of an open device:
//
//   api/       Vulkan itself: its functions, handles, instance; Context, an open device with its limits and error check
//   submit/    command buffers, descriptor sets, the stream, GPU timestamps
//   memory/    buffers, the heap, copies between host and device
//   compile/   turns a program into a pipeline, and keeps pipelines
//   calls/     calls and arrays on an open device
//   devices/   chooses the device; probes and reopens it
//   programs/  the kernels of a program, and its recordings
//
// Kept between calls: pipelines, memory blocks, command buffers and descriptor sets (calls/call_slot), and staging memory. When memory runs
// out, the heap frees what it keeps and tries again.
//
// When something fails. Every failed Vulkan call becomes a typed error (api/handle). After VK_ERROR_DEVICE_LOST, or a wait that failed, the
// context is unusable: the next call opens the device anew and makes its kernels again, while arrays on the lost device report
// DeviceLostError. A call that ends early, by a time-out or an interruption, abandons its slot to the stream, and other calls of host
// arrays are refused until the device has finished the abandoned work. All objects that the device may still use are retired to the stream,
// which destroys them once the device has passed their timeline value.
#pragma once

#include <memory>

#include "vyre/run/backend.hpp"

namespace vyre::run {

// The backend searches for Vulkan when it is first used. Keep it until the process ends: its devices need not be closed before that, and
// a driver may take long to close one.
std::unique_ptr<Backend> make_vulkan_backend();

}  // namespace vyre::run
