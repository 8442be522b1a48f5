// How a process ends while a driver still works on what nobody waits for: a call that was abandoned to it (a time-out, an
// interruption), or calls with arrays that stay on their device and were never read.
//
// exit() runs the destructors of the driver's library while the driver's threads still use what they destroy, and the process may
// crash although everything was said and done. So from the first such call on, exit() stops short of them: output is
// flushed, and the process ends with the status it was given.
#pragma once

namespace vyre::run::vulkan {

// Each such call, or stream of them, and each that the driver was seen to have finished.
void count_abandoned() noexcept;
void count_given_back() noexcept;

}  // namespace vyre::run::vulkan
