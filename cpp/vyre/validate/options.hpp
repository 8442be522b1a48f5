// Which rules a validation leaves out.
#pragma once

namespace vyre::validate {

struct Options {
  // V018 and V019 judge what a user wrote; our own passes validate their results without them.
  bool limits = true;
  // Checked execution decides divergence at run time: V010 is left out.
  bool uniformity = true;
};

}  // namespace vyre::validate
