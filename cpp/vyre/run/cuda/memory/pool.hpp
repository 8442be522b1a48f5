// Allocates and frees device memory in stream order: the next submission can use freed memory at once, because the device is done with the
// memory by the time that submission runs.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "vyre/run/cuda/submit/stream.hpp"

namespace vyre::run::cuda {

class Pool;

// Owns a part of the device's memory. Frees it in stream order, except in a forked process and after the device was lost.
class Block {
 public:
  Block() = default;
  Block(Block&& other) noexcept : pool_(std::exchange(other.pool_, nullptr)), address_(other.address_), bytes_(other.bytes_) {}
  Block& operator=(Block&& other) noexcept;
  ~Block() { reset(); }

  CUdeviceptr address() const { return address_; }
  std::uint64_t bytes() const { return bytes_; }
  void reset() noexcept;

 private:
  friend class Pool;
  Block(Pool& pool, CUdeviceptr address, std::uint64_t bytes) : pool_(&pool), address_(address), bytes_(bytes) {}

  Pool* pool_ = nullptr;
  CUdeviceptr address_ = 0;
  std::uint64_t bytes_ = 0;
};

// Any thread may call any function.
class Pool {
 public:
  Pool(Context& context, Stream& stream);
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  ~Pool();

  // Allocates `bytes` bytes, rounded up to a multiple of 16, and at least 16. Throws DeviceMemoryError.
  Block allocate(std::uint64_t bytes);

 private:
  friend class Block;
  void free(CUdeviceptr address) noexcept;

  Context& context_;
  Stream& stream_;
  CUmemoryPool pool_ = nullptr;
  std::atomic<std::size_t> blocks_ = 0;  // how many blocks were not given back
};

// Owns page-locked host memory, which the device can copy from and to without the host.
class Pinned {
 public:
  // Throws DeviceMemoryError.
  Pinned(Context& context, std::uint64_t bytes);
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;
  ~Pinned();

  std::byte* data() const { return static_cast<std::byte*>(data_); }

 private:
  Context& context_;
  void* data_ = nullptr;
};

}  // namespace vyre::run::cuda
