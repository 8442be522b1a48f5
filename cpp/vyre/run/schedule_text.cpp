#include "vyre/run/schedule_text.hpp"

#include <fmt/format.h>

namespace vyre::run {

std::string schedule_text(const Schedule& schedule) {
  switch (schedule.order) {
    case Schedule::Order::InOrder:
      return "in-order";
    case Schedule::Order::Reversed:
      return "reversed";
    case Schedule::Order::Random:
      return fmt::format("random:{}", schedule.seed);
  }
  return {};
}

}  // namespace vyre::run
