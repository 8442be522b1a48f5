// Divergent control flow. The execution mask says which lanes are active; null stands for all of them. Each open If and Loop has a frame
// that keeps the mask from before it, and three masks of its own.
//
// A lane that has returned is in no mask from then on. alive() has the lanes that have not returned, and a block in which lanes returned
// takes them out of the mask that it restores. In the same way, a lane that has left a Loop by a Break is in no mask inside the Loop. It is
// active again after the Loop.
#include <cstring>

#include "vyre/run/cpu/machine.hpp"

namespace vyre::run::cpu {

bool Machine::enter_if(const Instruction& i, std::size_t lanes) {
  const std::size_t depth = frames_.size();
  frames_.push_back({mask_, exits(), loop_around()});
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
  frames_.push_back({mask_, exits(), depth});
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
  if (frames_[depth].exits != exits()) {
    if (returns_ != 0) lanes_.both(in, in, alive(), lanes);
    if (frames_[depth].broken) lanes_.both(in, in, frame_mask(depth, kStaying), lanes);
  }
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
  if (frame.exits == exits()) return true;
  Word* const after = frame_mask(frames_.size(), kAfter);
  bool some = true;
  const auto keep = [&](const Word* kept) {
    some = lanes_.both(after, mask_ == nullptr ? kept : mask_, kept, lanes).some;
    mask_ = after;
  };
  if (returns_ != 0) keep(alive());
  if (const std::size_t loop = loop_around(); loop != kNoLoop && frames_[loop].broken) keep(frame_mask(loop, kStaying));
  return some;
}

void Machine::return_active(std::size_t lanes, std::size_t count) {
  if (returns_ == 0) lanes_.fill(alive(), ~Word{0}, count);
  ++returns_;
  take_out(alive(), lanes, count);
}

void Machine::break_active(const Instruction& i, std::size_t lanes, std::size_t count) {
  const std::size_t loop = frames_.size() - 1 - i.imm;
  Word* const staying = frame_mask(loop, kStaying);
  if (!frames_[loop].broken) lanes_.fill(staying, ~Word{0}, count);
  frames_[loop].broken = true;
  ++breaks_;
  take_out(staying, lanes, count);
}

void Machine::take_out(Word* mask, std::size_t lanes, std::size_t count) {
  if (mask_ == nullptr) {
    lanes_.fill(mask, 0, count);
  } else {
    for (std::size_t lane = 0; lane < lanes; ++lane) mask[lane] &= ~mask_[lane];
  }
}

}  // namespace vyre::run::cpu
