// The core of vyre.graph(). While a thread records a graph, its calls are added to the graph instead of being submitted; a replay submits
// them together.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "bindings/resident.hpp"
#include "vyre/ir/op_spec.hpp"
#include "vyre/run/recording.hpp"

namespace vyre::python {

class Graph {
 public:
  // Returns the graph that records the calling thread's calls, or null.
  static Graph* recording();
  // Throws ArgumentError if a graph records the calling thread's calls, because a replay could not repeat `what`.
  static void refuse(const char* what);

  Graph() = default;
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  ~Graph();

  void begin();
  // After a recording that `failed`, the graph cannot be replayed, because the recording is not complete.
  void end(bool failed);
  // add() records a call of `dispatches` dispatches on a device, with the GIL held.
  struct Place {
    run::Backend* backend = nullptr;
    std::size_t device = 0;
    bool operator==(const Place&) const = default;
  };
  struct Call {
    run::Step step;
    std::size_t dispatches = 1;
    bool always = false;  // whether it runs where a repetition around it has ended
  };
  void add(const Place& place, std::span<const PyArray* const> arrays, Call call);
  // Notes which versions the operations have that the program calls by ids without a version. A replay throws if one has another by then.
  void note_calls(const ir::Program& program);

  // Says that the call that was recorded last is one of a repetition itself, which runs in each turn.
  void always();
  // Whether one of the calls from `first` on writes to the array.
  bool writes(std::size_t first, const PyArray& array) const;
  // Replaces the calls from `first` on by `times` times these calls. They do nothing once the repetition of this state has ended.
  void repeat(std::size_t first, std::uint64_t times, const PyArray* state);

  void replay(std::uint64_t times);
  void wait(std::optional<std::chrono::duration<double>> timeout) const;
  std::size_t size() const { return calls_.size(); }
  // "3 calls on vulkan device 0", "not recorded yet".
  std::string describe() const;

 private:
  // Records all calls of the other graph, `times` times in turn, or throws and records none.
  void append(const Graph& other, std::uint64_t times);
  void keep(const std::shared_ptr<run::Storage>& storage);
  void check_operations();
  // Throws if the graph cannot take `times` times `count` more dispatches, one or more, or if `place` differs from the place of the calls
  // recorded so far.
  void check_joins(const Place& place, std::size_t count, std::uint64_t times) const;

  enum class State { Empty, Recording, Ready, Failed };
  void check_ready() const;

  State state_ = State::Empty;
  std::shared_ptr<Graph*> self_;  // the recording thread finds the graph by it; the destructor sets the inner pointer to null
  Place place_;                   // the backend and device of all calls
  std::vector<Call> calls_;
  std::size_t dispatches_ = 0;                                        // a call without any counts as one
  std::map<std::string, ir::OpTable::Spec, std::less<>> operations_;  // what note_calls() has noted, by id
  std::uint64_t generation_ = 0;                                      // of the registered operations, when a replay last compared them
  std::vector<std::shared_ptr<run::Storage>> storages_;               // the memory that the calls use, each storage once
  std::unordered_set<const run::Storage*> known_;                     // the elements of storages_, for look-up
  run::JoinedSteps joined_;                                           // last, to be destroyed before the storages that it uses
};

}  // namespace vyre::python
