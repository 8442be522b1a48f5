// Finds the CUDA driver's library at run time and keeps its functions in a table.
//
// Nothing links libcuda, so the package loads on a machine without it and can say why there is no device. The table is a value, so the
// tests' driver that fails on command can stand in the place of the system's.
#pragma once

#include <string>

#include "vyre/run/cuda/api/types.hpp"

namespace vyre::run::cuda {

// Gives the address of a symbol, or null.
using FindSymbol = void* (*)(const char* symbol);

// `find` is null on a machine without the driver; `reason` then says why.
struct Library {
  FindSymbol find = nullptr;
  std::string reason;
  std::string file = {};  // names the library's file by its size and the time of its last change, which another driver changes
};

// The driver of this machine, which is searched for once in a process.
Library system_library();

struct Api {
#define FUNCTION(name, symbol, parameters) CUresult(*name) parameters = nullptr;
#include "vyre/run/cuda/api/functions.def"
};

// Throws DeviceError when a function is missing.
Api load(FindSymbol find);

}  // namespace vyre::run::cuda
