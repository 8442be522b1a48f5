// What the tests of the CUDA backend share: the backend on a driver without a GPU, and the arrays of a call of out = a ^ b, in the host's
// memory and on the device.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "support/directory.hpp"
#include "support/errors.hpp"
#include "support/fakes/fake_cuda.hpp"
#include "support/prepared.hpp"
#include "support/programs/programs.hpp"
#include "support/run_program.hpp"
#include "support/words.hpp"
#include "support/xor_arrays.hpp"
#include "vyre/run/cuda/cuda_backend.hpp"
#include "vyre/run/storage.hpp"

namespace vyre::test {

using run::Executable;
using run::RunOptions;
using run::StorageView;
using run::cuda::CudaBackend;
using run::cuda::Options;

// out = a ^ b of a program with a guard, in workgroups of 64.
class CudaTest : public testing::Test {
 protected:
  explicit CudaTest(int devices = 1) : driver_(devices) { driver_.knows(xor_); }

  CudaBackend backend(Options options = {}) {
    if (!options.cache_directory) options.cache_directory = cache_.path;
    return CudaBackend([this] { return driver_.library(); }, std::move(options));
  }

  // The arrays of a call on the device, each array `before` bytes behind the beginning of its storage.
  struct Resident {
    std::vector<std::unique_ptr<run::Storage>> storages;
    std::vector<StorageView> views;
    Words a, b;
    Resident(CudaBackend& backend, std::uint32_t n, std::uint64_t before = 0, std::size_t device = 0) : a(counted(n, 3)), b(counted(n, 5)) {
      for (const Words* const words : std::initializer_list<const Words*>{&a, &b, nullptr}) {
        storages.push_back(backend.allocate(device, before + 4 * n, true));
        if (words != nullptr) storages.back()->write(before, bytes_of(*words), {});
        views.push_back({storages.back().get(), before, 4 * n, n});
      }
    }
    Words out() {
      Words got(a.size());
      storages[2]->read(views[2].offset, std::as_writable_bytes(std::span(got)), {});
      return got;
    }
    bool right() { return out() == xor_of(a, b); }
  };

  FakeCuda driver_;
  const Directory cache_;
  const validate::ValidProgram xor_ = xor_program();

 private:
  static validate::ValidProgram xor_program() {
    using namespace sample;
    return valid(Sample()
                     .in("a")
                     .in("b")
                     .out("out")
                     .size(64)
                     .add(if_(gid(0) < len("out"), {store("out", gid(0), load("a", gid(0)) ^ load("b", gid(0)))}))
                     .make());
  }
};

// Which kind of error a failed call must become.
inline std::string kind_wanted(CUresult result) {
  return result == run::cuda::CUDA_ERROR_OUT_OF_MEMORY ? "memory" : run::cuda::is_lost(result) ? "lost" : "device";
}

}  // namespace vyre::test
