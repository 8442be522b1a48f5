// Holds machine code in memory that can be executed and cannot be written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace vyre::run::cpu::native {

enum class Backing : std::uint8_t {
  SealedFile,  // the code can never be written again, through any mapping
  Anonymous,   // writable only until it is executable; needed for perf, which names code in anonymous memory only (perf_map.hpp)
};

class CodePages {
 public:
  // Null when the system does not let this process execute memory that it has filled.
  static std::unique_ptr<CodePages> make(std::span<const std::byte> code, Backing backing = Backing::SealedFile);
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
