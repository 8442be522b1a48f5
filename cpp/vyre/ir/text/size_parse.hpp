// Reads the sizes in the text of a procedure: numbers and their names, lengths, turns, limits and operations on them.
//
// It knows the arrays, numbers, defined sizes (`%0`) and repetitions that stand above, which the parser of the lines adds.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "vyre/ir/procedures/procedure.hpp"
#include "vyre/ir/procedures/size.hpp"
#include "vyre/ir/text/lexer.hpp"

namespace vyre::ir {

class SizeParser : protected Lexer {
 protected:
  static constexpr std::string_view kRepeat = "write `repeat turn<number> in 0..<size> {`";

  explicit SizeParser(std::string_view text) : Lexer(text), builder_("") {}

  SizeId expr();
  SizeId operand();
  // Up to the closing bracket.
  std::vector<SizeId> sizes();
  // The operator that stands here, the longest one; null when none does.
  const SizeOpInfo* infix_row() const;

  // The number of a defined size, from its `%` on.
  std::uint32_t reference_number();
  // The number of a turn, from its word on; `form` says what to write where there is none.
  std::uint32_t turn_number(std::string_view form);
  ArrayId array_name();

  ProcedureBuilder builder_;
  std::vector<std::uint32_t> axes_;  // of each array
  // By name and by number. No hash maps: keys that collide in one are easily chosen.
  std::map<std::string, ArrayId, std::less<>> arrays_;
  std::map<std::string, std::uint32_t, std::less<>> numbers_;
  std::map<std::uint32_t, SizeId> numbered_;
  std::map<std::uint32_t, std::uint32_t> turns_;

 private:
  template <class Known>
  [[noreturn]] void unknown(std::size_t start, std::string_view what, std::string_view called, const Known& known, std::string_view fix);
  SizeId applied(std::size_t start, SizeOp op, const std::array<SizeId, 3>& operands);
  SizeId turn();
  SizeId function(std::string_view word);
  SizeId length();
  SizeId limit();
};

}  // namespace vyre::ir
