// The procedures that are known to write every element before they read or return it, where no analysis can see that: a sort scatters each
// element to a place that it computes. Their arrays need no zeros.
//
// Only vyre's own library vouches, and its tests hold each of these procedures to it by checked execution. The fact belongs to the value: a
// procedure that was read from text is vouched for if it equals one of the library's, and no text can say it of itself.
#pragma once

#include "vyre/ir/procedures/procedure.hpp"

namespace vyre::run {

// Vouches for the steps of a procedure itself, not for those of the procedures that it invokes. About 4,096 procedures are remembered. Any
// thread may call both functions.
void vouch(const ir::Procedure& procedure);
bool is_vouched(const ir::Procedure& procedure);

}  // namespace vyre::run
