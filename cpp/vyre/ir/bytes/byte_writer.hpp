// Writes what the binary forms of programs and of procedures are made of: numbers, texts and flags.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

namespace vyre::ir {

class ByteWriter {
 protected:
  // LEB128: seven bits a byte, the lowest first; the top bit says that more follow.
  void put(std::uint64_t number) {
    for (; number >= 0x80; number >>= 7) out_.push_back(static_cast<char>(0x80 | (number & 0x7F)));
    out_.push_back(static_cast<char>(number));
  }
  void put(std::uint32_t number) { put(std::uint64_t{number}); }
  void put(bool flag) { put(std::uint32_t{flag}); }
  // Its length in bytes, and the bytes.
  void put(std::string_view text) {
    put(std::uint64_t{text.size()});
    out_ += text;
  }
  template <class Enum>
  requires std::is_enum_v<Enum>
  void put(Enum value) { put(static_cast<std::uint32_t>(value)); }

  std::string out_;
};

}  // namespace vyre::ir
