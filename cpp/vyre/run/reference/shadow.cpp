#include "vyre/run/reference/shadow.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <new>

namespace vyre::run::reference {
namespace {

constexpr std::size_t kLargePage = std::size_t{2} << 20;

}  // namespace

Shadows::Shadows(std::size_t elements) {
  if (elements > std::numeric_limits<std::ptrdiff_t>::max() / sizeof(Shadow)) throw std::bad_alloc();
  const std::size_t bytes = std::max<std::size_t>(elements, 1) * sizeof(Shadow);
  if (bytes < kLargePage) {
    void* const zeros = std::calloc(1, bytes);
    if (zeros == nullptr) throw std::bad_alloc();
    shadows_ = {static_cast<Shadow*>(zeros), Release{0}};
    return;
  }
  void* const pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (pages == MAP_FAILED) throw std::bad_alloc();
  // Checks spend most of their time on the first touch of each page. Large pages halve this time; a system without them ignores the advice.
  madvise(pages, bytes, MADV_HUGEPAGE);
  shadows_ = {static_cast<Shadow*>(pages), Release{bytes}};
}

void Shadows::Release::operator()(Shadow* shadows) const {
  if (mapped == 0) {
    std::free(shadows);
  } else {
    munmap(shadows, mapped);
  }
}

}  // namespace vyre::run::reference
