// Control flow where lanes may part. A mask says which lanes are active; null stands for all of them. Each open If and Loop has a frame
// that keeps the mask from before it, and three masks of its own.
//
// Lanes that return stay out of every mask from then on: `alive` has those that have not, and a block whose lanes returned takes them out
// of the mask that it restores.
#include <cstring>

#include "vyre/run/cpu/machine.hpp"

namespace vyre::run::cpu {

bool Machine::enter_if(const Instruction& i, std::size_t lanes) {
  const std::size_t depth = frames_.size();
  frames_.push_back({mask_, returns_});
  const Any any = lanes_.split(frame_mask(depth, kActive), frame_mask(depth, kRest), mask_, vector(i.a), lanes);
  if (!any.some) {
    frames_.back().taken = Frame::Taken::None;
    return false;
  }
  if (any.all) {
    frames_.back().taken = Frame::Taken::All;
  } else {
    mask_ = frame_mask(depth, kActive);
  }
  return true;
}

bool Machine::enter_else() {
  const Frame& frame = frames_.back();
  if (frame.taken == Frame::Taken::All) return false;
  mask_ = frame.taken == Frame::Taken::None ? frame.before : frame_mask(frames_.size() - 1, kRest);
  return true;
}

bool Machine::enter_loop(const Instruction& i, std::size_t lanes, std::size_t count) {
  const std::size_t depth = frames_.size();
  frames_.push_back({mask_, returns_});
  Word* const variable = vector(i.dest);
  if (is_scalar(i.a)) {
    lanes_.fill(variable, scalar(i.a), count);
  } else {
    std::memcpy(variable, vector(i.a), count * sizeof(Word));
  }
  Word* const in = frame_mask(depth, kActive);
  const Any any = lanes_.below(in, mask_, variable, vector(i.b), lanes);
  if (!any.some) {
    frames_.pop_back();
    return false;
  }
  if (!any.all) mask_ = in;
  return true;
}

bool Machine::enter_round(const Instruction& i, std::size_t lanes, std::size_t count) {
  const std::size_t depth = frames_.size() - 1;
  Word* const in = frame_mask(depth, kActive);
  if (frames_[depth].returns != returns_) lanes_.both(in, in, alive(), lanes);
  Word* const variable = vector(i.dest);
  const Word one = 1;
  lanes_.binary[static_cast<std::size_t>(lower::Opcode::Add)][static_cast<std::size_t>(Form::VectorScalar)](variable, variable, &one,
                                                                                                            count);
  // A lane whose variable wraps around was at its bound before, and is not in the mask any more.
  const Any any = lanes_.below(in, in, variable, vector(i.b), lanes);
  if (any.some) mask_ = in;
  return any.some;
}

bool Machine::leave(std::size_t lanes) {
  const Frame frame = frames_.back();
  frames_.pop_back();
  mask_ = frame.before;
  if (frame.returns == returns_) return true;
  Word* const after = frame_mask(frames_.size(), kAfter);
  const Any any = lanes_.both(after, mask_ == nullptr ? alive() : mask_, alive(), lanes);
  mask_ = after;
  return any.some;
}

void Machine::return_active(std::size_t lanes, std::size_t count) {
  if (returns_ == 0) lanes_.fill(alive(), ~Word{0}, count);
  ++returns_;
  if (mask_ == nullptr) {
    lanes_.fill(alive(), 0, count);
  } else {
    for (std::size_t lane = 0; lane < lanes; ++lane) alive()[lane] &= ~mask_[lane];
  }
}

}  // namespace vyre::run::cpu
