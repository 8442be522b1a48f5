// Machine code in memory that is executed and cannot be written.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

namespace vyre::run::cpu::native {

class CodePages {
 public:
  // Null when the system does not let this process execute memory that it has filled.
  static std::unique_ptr<CodePages> make(std::span<const std::byte> code);
  ~CodePages();
  CodePages(const CodePages&) = delete;
  CodePages& operator=(const CodePages&) = delete;

  const void* start() const { return start_; }
  std::size_t bytes() const { return bytes_; }

 private:
  CodePages(void* start, std::size_t bytes) : start_(start), bytes_(bytes) {}

  void* start_;
  std::size_t bytes_;
};

}  // namespace vyre::run::cpu::native
