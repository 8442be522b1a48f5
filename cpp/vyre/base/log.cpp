#include "vyre/base/log.hpp"

#include <atomic>

namespace vyre {

static std::atomic<Logger> current_logger = nullptr;

Logger set_logger(Logger logger) { return current_logger.exchange(logger); }

void log_warning(std::string_view line) {
  if (const Logger logger = current_logger) logger(line);
}

}  // namespace vyre
