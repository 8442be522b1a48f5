// Lines for the people who operate a process, about what goes on although something failed.
#pragma once

#include <string_view>

namespace vyre {

using Logger = void (*)(std::string_view line);

// Sets who gets the lines; at first they are dropped. Returns the one before. Call it before other threads work.
Logger set_logger(Logger logger);
void log_warning(std::string_view line);

}  // namespace vyre
