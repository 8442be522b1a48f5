#include "vyre/run/cuda/memory/pool.hpp"

#include <algorithm>
#include <limits>

#include "vyre/base/assert.hpp"

namespace vyre::run::cuda {
namespace {

// The size of a kernel's widest access, in bytes.
constexpr std::uint64_t kAlignment = 16;

}  // namespace

Block& Block::operator=(Block&& other) noexcept {
  if (this != &other) {
    reset();
    pool_ = std::exchange(other.pool_, nullptr);
    address_ = other.address_;
    bytes_ = other.bytes_;
  }
  return *this;
}

void Block::reset() noexcept {
  if (Pool* const pool = std::exchange(pool_, nullptr)) pool->free(address_);
}

Pool::Pool(Context& context, Stream& stream) : context_(context), stream_(stream) {
  CUmemPoolProps props{};
  props.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  props.location = {CU_MEM_LOCATION_TYPE_DEVICE, context.physical().handle};
  const Current current(context);
  context.check(context.api().cuMemPoolCreate(&pool_, &props), "cuMemPoolCreate");
  // Without this attribute, the driver would return memory to the system at each wait, and take it again for the next call.
  std::uint64_t keep = std::numeric_limits<std::uint64_t>::max();
  const CUresult result = context.api().cuMemPoolSetAttribute(pool_, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &keep);
  if (result != CUDA_SUCCESS) static_cast<void>(context.api().cuMemPoolDestroy(pool_));
  context.check(result, "cuMemPoolSetAttribute");
}

Pool::~Pool() {
  VYRE_ASSERT(blocks_ == 0);
  free_in(context_, [this](const Api& api) { static_cast<void>(api.cuMemPoolDestroy(pool_)); });
}

Block Pool::allocate(std::uint64_t bytes) {
  const std::uint64_t wanted = std::max(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment);
  const Current current(context_);
  const Api& api = context_.api();
  CUdeviceptr address = 0;
  const CUresult result = stream_.allocate(address, wanted, pool_);
  if (result == CUDA_ERROR_OUT_OF_MEMORY) {
    // The pool may keep the missing memory as free blocks of other sizes. It can return them only once the device is done with them.
    stream_.idle_within(std::chrono::seconds(10));
    static_cast<void>(api.cuMemPoolTrimTo(pool_, 0));
    context_.check(stream_.allocate(address, wanted, pool_), "cuMemAllocFromPoolAsync");
  } else {
    context_.check(result, "cuMemAllocFromPoolAsync");
  }
  ++blocks_;
  return {*this, address, wanted};
}

void Pool::free(CUdeviceptr address) noexcept {
  --blocks_;
  if (context_.alive()) stream_.free(address);
}

Pinned::Pinned(Context& context, std::uint64_t bytes) : context_(context) {
  const Current current(context);
  context.check(context.api().cuMemHostAlloc(&data_, bytes, CU_MEMHOSTALLOC_PORTABLE), "cuMemHostAlloc");
}

Pinned::~Pinned() {
  free_in(context_, [this](const Api& api) { static_cast<void>(api.cuMemFreeHost(data_)); });
}

}  // namespace vyre::run::cuda
