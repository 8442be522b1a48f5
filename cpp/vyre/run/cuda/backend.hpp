// Runs programs on NVIDIA GPUs through the CUDA driver. This header is the entry point of the folder.
//
// The driver's library is loaded when it is first needed (api/library); no CUDA toolkit is needed. The backend retains a device's primary
// context, which other libraries in the process share (api/context). Everything that the backend does on a device happens on one stream of
// its own (submit/stream), so nothing needs a barrier: a launch sees what the launches before it wrote. Only within a graph
// (programs/graph, programs/capture) may calls run at the same time, if there is no hazard between them.
//
// The life of a call. Executable::run (cuda_backend.cpp) asks a KernelSource for the kernels that fit the grid. On first use, the
// KernelSource opens the device (devices/), lowers the program and emits PTX (compile/kernel), and has the driver compile it, or finds the
// code that an earlier process left on disk. calls/calls copies the arrays in (memory/transfer), enqueues a launch for each part of the
// grid (calls/launch), waits for the timeline value of the last launch, and copies the results out. Arrays that stay on the device are
// CudaStorages (calls/storage). Calls with such arrays are recorded once (programs/recording) and submitted any number of times, with any
// arrays of the right sizes; several calls become a graph of the driver for arrays that come again.
//
// When calls follow each other without a wait, a thread of the stream submits them (submit/commands), because the driver takes longer for a
// launch than all other work of a call takes.
//
// Memory is allocated from a pool of the driver and freed in stream order (memory/pool), so the next call can use at once what a call has
// freed.
//
// Each of these folders uses only the folders above it, as those of run/vulkan do, which have the same names. From calls/ on, they also use
// device.hpp, which owns the parts of an open device:
//
//   api/       the driver itself: its functions and errors; Context, the primary context of a device
//   submit/    calls of the driver, the stream, times of a device's work
//   memory/    the pool, copies between host and device
//   compile/   turns a program into a kernel, and keeps compiled code
//   calls/     launches, calls and arrays on an open device
//   devices/   chooses the device, and opens it anew
//   programs/  the kernels of a program, and its recordings and their graphs
//
// When something fails. Every failed call of the driver becomes a typed error (api/library). Errors that lose the context make the device
// unusable: its arrays report DeviceLostError, and the next call opens the device anew. The driver makes a new context only once no library
// holds the old one. A call that leaves early, by a time-out or an interruption, leaves its work on the stream, and other calls of host
// arrays are refused until the device has done it.
#pragma once

#include <memory>

#include "vyre/run/backend.hpp"

namespace vyre::run {

// Searches for the driver when it is first used and not before. Keep the backend until the process ends.
std::unique_ptr<Backend> make_cuda_backend();

}  // namespace vyre::run
