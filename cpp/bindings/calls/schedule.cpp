#include "bindings/calls/schedule.hpp"

#include <charconv>
#include <string_view>

#include "bindings/convert/convert.hpp"

namespace vyre::python {

run::Schedule to_schedule(py::handle object, const std::string& where) {
  using Order = run::Schedule::Order;
  if (object.is_none()) return {};
  const std::string name = to_text(object, where);
  if (name == "in-order") return {};
  if (name == "reversed") return {.order = Order::Reversed};
  if (name == "random") return {.order = Order::Random};
  constexpr std::string_view kRandom = "random:";
  if (name.starts_with(kRandom)) {
    run::Schedule schedule{.order = Order::Random};
    const char* const end = name.data() + name.size();
    const auto [stop, error] = std::from_chars(name.data() + kRandom.size(), end, schedule.seed);
    if (error == std::errc() && stop == end) return schedule;
  }
  reject(where, "\"in-order\", \"reversed\" or \"random:<seed>\" with a seed below 2^64", object);
}

}  // namespace vyre::python
