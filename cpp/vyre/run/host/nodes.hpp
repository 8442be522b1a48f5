// Deals out the pieces of a call to threads by the node of memory (NUMA) that they run on.
//
// The system places a page on the node of the thread that writes it first. Each node has a contiguous share of the pieces, and its threads
// take these before they take those of other nodes. So an array's pages lie on the node whose threads use them, in this call and in later
// calls over as many pieces. A machine with one node has one share.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace vyre::run {

struct Nodes {
  std::vector<unsigned> of_processor{};  // the node of each processor, counted from 0; empty if there is one node
  std::vector<unsigned> processors{};    // how many processors of each node this process may use; empty if there is one node
};

// Describes the nodes of these processors; nodes of other processors are left out. `folder` is /sys/devices/system/node.
Nodes nodes_of(const std::filesystem::path& folder, std::span<const unsigned> processors);

// The nodes of the processors that sched_getaffinity allows to the main thread. They are read once, by the thread that needs them first.
const Nodes& nodes_of_this_process();

class Shares {
 public:
  // A node's share is in proportion to its processors. `nodes` must outlive the object. `threads` is the number of threads that take
  // pieces.
  Shares(std::uint64_t pieces, const Nodes& nodes, unsigned threads)
      : nodes_(nodes), part_(kPartOfRest * threads), count_(nodes.processors.empty() ? 1 : static_cast<unsigned>(nodes.processors.size())) {
    first_.next.store(0, std::memory_order_relaxed);
    first_.end = pieces;
    if (count_ != 1) divide();
  }

  // Takes pieces for one thread. The first ones are taken singly, and then several at a time as long as many are left, so that threads
  // seldom wait for the counter that they share.
  class Taker {
   public:
    explicit Taker(Shares& shares) : shares_(shares) {}
    // Returns nothing when all pieces have been taken.
    std::optional<std::uint64_t> next() { return next(shares_.count_ == 1 ? 0 : shares_.node_of_this_thread()); }
    // Prefers the share of this node.
    std::optional<std::uint64_t> next(unsigned node) {
      if (next_ == end_ && !take(node)) return std::nullopt;
      return next_++;
    }

   private:
    bool take(unsigned node) {
      for (unsigned k = 0, each = node; k < shares_.count_; ++k, ++each) {
        if (each >= shares_.count_) each = 0;
        Share& share = shares_.share(each);
        const std::uint64_t wanted = k == 0 ? at_once_ : 1;
        next_ = share.next.fetch_add(wanted, std::memory_order_relaxed);
        if (next_ >= share.end) continue;
        end_ = std::min(next_ + wanted, share.end);
        const std::uint64_t left = share.end - end_;
        at_once_ = left < 2 * shares_.part_ ? 1 : std::min({left / shares_.part_, 2 * at_once_, kMostAtOnce});
        return true;
      }
      end_ = next_;
      return false;
    }

    Shares& shares_;
    std::uint64_t next_ = 0, end_ = 0;  // the pieces that this thread has taken
    std::uint64_t at_once_ = 1;
  };

 private:
  // The most pieces that a thread takes at once, and the part of its fair share of what is left that it takes: the others do not wait for
  // it at the end.
  static constexpr std::uint64_t kMostAtOnce = 16, kPartOfRest = 8;

  struct alignas(64) Share {  // threads write this cache line; what they only read is in others
    std::atomic<std::uint64_t> next;
    std::uint64_t end;
  };

  void divide();
  Share& share(unsigned node) { return node == 0 ? first_ : others_[node - 1]; }
  unsigned node_of_this_thread() const;

  const Nodes& nodes_;
  const std::uint64_t part_;
  const unsigned count_;
  std::unique_ptr<Share[]> others_;  // null if there is one node
  Share first_;
};

}  // namespace vyre::run
