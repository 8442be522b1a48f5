#include "vyre/run/host/nodes.hpp"

#include <sched.h>

#include <exception>
#include <numeric>
#include <string>

#include "vyre/run/host/processors.hpp"

namespace vyre::run {
namespace {

// Null until the nodes are read, which happens without a lock: threads that need them first at the same time all read them.
std::atomic<const Nodes*> known_nodes = nullptr;

// Stands for the nodes while there is no memory to read them. Never destroyed: threads that outlive main may hold it.
const Nodes* const one_node = new Nodes;

}  // namespace

Nodes nodes_of(const std::filesystem::path& folder, std::span<const unsigned> processors) {
  Nodes result;
  for (const unsigned node : processors_in(first_line(folder / "online"))) {
    unsigned usable = 0;
    for (const unsigned processor : processors_in(first_line(folder / ("node" + std::to_string(node)) / "cpulist"))) {
      if (std::ranges::find(processors, processor) == processors.end()) continue;
      if (result.of_processor.size() <= processor) result.of_processor.resize(processor + 1);
      result.of_processor[processor] = static_cast<unsigned>(result.processors.size());
      ++usable;
    }
    if (usable != 0) result.processors.push_back(usable);
  }
  if (result.processors.size() < 2) return {};
  return result;
}

const Nodes& nodes_of_this_process() {
  const Nodes* nodes = known_nodes.load(std::memory_order_acquire);
  if (nodes != nullptr) return *nodes;
  try {
    auto read = std::make_unique<const Nodes>(nodes_of("/sys/devices/system/node", usable_processor_numbers()));
    if (known_nodes.compare_exchange_strong(nodes, read.get(), std::memory_order_acq_rel)) return *read.release();
    return *nodes;
  } catch (const std::exception&) {  // no memory at this moment
    return *one_node;
  }
}

void Shares::divide() {
  others_ = std::make_unique<Share[]>(count_ - 1);
  const std::uint64_t pieces = first_.end;
  const std::uint64_t all = std::accumulate(nodes_.processors.begin(), nodes_.processors.end(), std::uint64_t{0});
  std::uint64_t before = 0, begin = 0;
  for (unsigned node = 0; node < count_; ++node) {
    before += nodes_.processors[node];
    const std::uint64_t end = pieces / all * before + pieces % all * before / all;
    share(node).next.store(begin, std::memory_order_relaxed);
    share(node).end = begin = end;
  }
}

unsigned Shares::node_of_this_thread() const {
  const int processor = sched_getcpu();
  if (processor < 0 || static_cast<std::size_t>(processor) >= nodes_.of_processor.size()) return 0;
  return nodes_.of_processor[static_cast<std::size_t>(processor)];
}

}  // namespace vyre::run
