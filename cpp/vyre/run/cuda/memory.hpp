// Memory of a device, taken and given back in the order of its stream: what is given back serves the next submission at once, and the
// device is done with it by then.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "vyre/run/cuda/stream.hpp"

namespace vyre::run::cuda {

class Pool;

// Owns a part of the device's memory. Gives it back in the order of the stream; in a forked process, and after the device was lost, not.
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

  // At least so many bytes, and whole words of 16 bytes. Throws DeviceMemoryError.
  Block allocate(std::uint64_t bytes);

 private:
  friend class Block;
  void free(CUdeviceptr address) noexcept;

  Context& context_;
  Stream& stream_;
  CUmemoryPool pool_ = nullptr;
  std::atomic<std::size_t> blocks_ = 0;  // that were not given back
};

// Owns host memory that the device copies from and to by itself.
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
