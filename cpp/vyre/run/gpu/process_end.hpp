// Ends the process safely while a device is still at work, for example on a call that timed out, or on calls whose arrays were never read.
//
// exit() runs the destructors of the driver's library while the driver's own threads still use what they destroy, so the process may crash
// after its work is done. So while a device is busy, exit() stops before these destructors: it flushes the output and ends the process with
// its status.
#pragma once

namespace vyre::run {

// A stream reports when its device gets work, and when the device was seen to have done all of it.
void count_busy() noexcept;
void count_idle() noexcept;

}  // namespace vyre::run
