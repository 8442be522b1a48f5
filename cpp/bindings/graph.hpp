// The core of vyre.graph(): calls that are recorded where they would have been submitted, and replayed together.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "resident.hpp"
#include "vyre/run/storage.hpp"

namespace vyre::python {

class Graph {
 public:
  // The one that records the calling thread's calls, or null.
  static Graph* recording();
  // Throws ArgumentError while the calling thread's calls are recorded: `what` could not be replayed.
  static void refuse(const char* what);

  Graph() = default;
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  ~Graph();

  void begin();
  // After a recording that `failed`, the graph cannot be replayed, because the recording is not complete.
  void end(bool failed);
  // Records a call of `dispatches` dispatches on a device. `held` keeps what its plan needs. The GIL must be held.
  struct Place {
    run::Backend* backend = nullptr;
    std::size_t device = 0;
    bool operator==(const Place&) const = default;
  };
  struct Call {
    std::shared_ptr<void> held;
    run::Step step;
    std::size_t dispatches = 1;
  };
  void add(const Place& place, std::span<const PyArray* const> arrays, Call call);

  void replay(std::uint64_t times);
  void wait(std::optional<std::chrono::duration<double>> timeout) const;
  std::size_t size() const { return calls_.size(); }
  // "3 calls on vulkan device 0", "nothing yet".
  std::string describe() const;

 private:
  // Records all calls of the other graph.
  void append(const Graph& other);
  void keep(const std::shared_ptr<run::Storage>& storage);
  // Throws if the graph cannot take `count` more dispatches, or if `place` is another one than that of the calls before.
  void check_joins(const Place& place, std::size_t count) const;

  enum class State { Empty, Recording, Ready, Failed };
  void check_ready() const;

  State state_ = State::Empty;
  std::shared_ptr<Graph*> self_;  // leads the recording thread to this graph; the destructor sets the pointer to null
  Place place_;                   // of the calls
  std::vector<Call> calls_;
  std::size_t dispatches_ = 0;
  std::vector<std::shared_ptr<run::Storage>> storages_;  // without repetitions
  std::unordered_set<const run::Storage*> known_;        // the same ones, to look them up
  std::shared_ptr<run::Sequence> sequence_;              // destroyed before what it refers to
};

}  // namespace vyre::python
