// Runs programs on NVIDIA GPUs through the CUDA driver. This page is the door to the folder.
//
// The driver's library is looked for when it is first needed (api/library); no toolkit is. A device's primary context is retained, which
// other libraries in the process share (api/context), and everything that this backend does on a device happens on one stream of its own
// (stream), so nothing needs a barrier: a launch sees what the launches before it wrote. Only within a graph (graph, capture) may calls
// that share nothing run at once.
//
// The life of a call. Executable::run (cuda_backend.cpp) asks a KernelSource for the kernels that fit the grid. On first use, the
// KernelSource opens the device (devices), lowers the program and emits PTX (kernel), and has the driver compile it, or finds the code that
// an earlier process left on disk. calls copies the arrays in (transfer), enqueues a launch for each part of the grid (launch), waits for
// the stream's value, and copies the results out. Arrays that stay are CudaStorages (storage), and their calls are planned once (plan) and
// submitted as often as wanted: a plan takes any arrays of the right sizes, because a launch only copies addresses.
//
// Calls that follow each other without a wait leave their submission to a thread of the stream, because the driver takes longer for a
// launch than everything else of a call (commands, stream).
//
// Memory comes from a pool of the driver's in the order of the stream (memory): what a call gives back serves the next one at once.
//
// When something fails. Every failed call of the driver becomes a typed error (api/result). Errors that lose the context make the device
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
