// Visits the sizes of a procedure. Their order is a fact of both the binary and the text form: sizes are numbered as they are first
// reached.
#pragma once

#include <type_traits>
#include <variant>

#include "vyre/ir/procedure.hpp"

namespace vyre::ir {

// Calls `visit` with each valid SizeId of a step; the ids may be changed where the step may.
template <class Step, class Visit>
requires std::is_same_v<std::remove_const_t<Step>, StepKind>
void for_each_size(Step& step, Visit&& visit) {
  const auto in_part = [&](auto& part) {
    if (part.offset.valid()) visit(part.offset);
    if (part.length.valid()) visit(part.length);
  };
  if (auto* dispatch = std::get_if<Dispatch>(&step)) {
    for (auto& bound : dispatch->bound) {
      if (auto* part = std::get_if<ArrayPart>(&bound)) in_part(*part);
      if (auto* words = std::get_if<Words>(&bound)) {
        for (auto& size : *words) visit(size);
      }
    }
    if (dispatch->grid.counts) in_part(*dispatch->grid.counts);
    for (auto& size : dispatch->grid.most) visit(size);
  } else if (auto* invoke = std::get_if<Invoke>(&step)) {
    for (auto& part : invoke->arrays) in_part(part);
    for (auto& size : invoke->numbers) visit(size);
  } else if (auto* repeat = std::get_if<Repeat>(&step)) {
    visit(repeat->count);
  } else if (auto* when = std::get_if<When>(&step)) {
    visit(when->condition);
  } else if (auto* clear = std::get_if<Clear>(&step)) {
    in_part(clear->part);
  }
}

}  // namespace vyre::ir
