// The text of literals. Lexer::literal() is defined beside it, so that what is written and what is read stand together.
#pragma once

#include <string>

#include "vyre/ir/expr.hpp"

namespace vyre::ir {

// The value of a literal as the text form writes it, without the type's suffix: "7", "-7", "true".
std::string digits(const Literal& literal);

}  // namespace vyre::ir
