// Writes what the binary forms of programs and of procedures are made of: numbers, texts and flags.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace vyre::ir {

class ByteWriter {
 protected:
  // LEB128: seven bits a byte, the lowest first; the top bit says that more follow.
  void put(std::uint64_t number) {
    for (; number >= 0x80; number >>= 7) put_byte(0x80 | (number & 0x7F));
    put_byte(number);
  }
  void put(std::uint32_t number) { put(std::uint64_t{number}); }
  void put(bool flag) { put(std::uint32_t{flag}); }
  // Its length in bytes, and the bytes.
  void put(std::string_view text) {
    put(std::uint64_t{text.size()});
    put_bytes(text);
  }
  template <class Enum>
  requires std::is_enum_v<Enum>
  void put(Enum value) { put(static_cast<std::uint32_t>(value)); }

  void put_bytes(std::string_view bytes) {
    flush();
    out_ += bytes;
  }
  std::string written() {
    flush();
    return std::move(out_);
  }

 private:
  void put_byte(std::uint64_t byte) {
    if (count_ == latest_.size()) flush();
    latest_[count_++] = static_cast<char>(byte);
  }
  void flush() {
    out_.append(latest_.data(), count_);
    count_ = 0;
  }

  std::string out_;
  // Nearly every number is one byte, and a string takes several times as long for a byte.
  std::array<char, 256> latest_;
  std::size_t count_ = 0;  // of the latest bytes
};

}  // namespace vyre::ir
