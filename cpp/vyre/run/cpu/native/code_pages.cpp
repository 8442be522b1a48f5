// The code is written to a file in memory through one mapping, which is removed; the file is sealed against every change, and then mapped
// once more to be executed. So no page is ever writable and executable, and nothing can write to the code later.
#include "vyre/run/cpu/native/code_pages.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "vyre/base/descriptor.hpp"

namespace vyre::run::cpu::native {
namespace {

bool fill(int file, std::span<const std::byte> bytes) {
  if (file < 0 || ftruncate(file, static_cast<off_t>(bytes.size())) != 0) return false;
  void* const memory = mmap(nullptr, bytes.size(), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) return false;
  std::memcpy(memory, bytes.data(), bytes.size());
  return munmap(memory, bytes.size()) == 0;
}

void* sealed(std::span<const std::byte> code) {
  const Descriptor file(memfd_create("vyre-code", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fill(*file, code) || fcntl(*file, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) return nullptr;
  void* const start = mmap(nullptr, code.size(), PROT_READ | PROT_EXEC, MAP_PRIVATE, *file, 0);
  return start == MAP_FAILED ? nullptr : start;
}

void* anonymous(std::span<const std::byte> code) {
  void* const start = mmap(nullptr, code.size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (start == MAP_FAILED) return nullptr;
  std::memcpy(start, code.data(), code.size());
  if (mprotect(start, code.size(), PROT_READ | PROT_EXEC) == 0) return start;
  munmap(start, code.size());
  return nullptr;
}

}  // namespace

std::unique_ptr<CodePages> CodePages::make(std::span<const std::byte> code, Backing backing) {
  if (code.empty()) return nullptr;
  void* const start = backing == Backing::Anonymous ? anonymous(code) : sealed(code);
  if (start == nullptr) return nullptr;
  return std::unique_ptr<CodePages>(new CodePages(start, code.size()));
}

CodePages::~CodePages() { munmap(start_, bytes_); }

}  // namespace vyre::run::cpu::native
