// Defines a case: a program with everything that its runs need, and the defect that was planted in it if the options asked for one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "vyre/ir/op_spec.hpp"
#include "vyre/ir/program.hpp"

namespace vyre::fuzz {

// The host's bytes of one bound buffer.
struct Array {
  std::string buffer;
  std::vector<std::byte> bytes;
  bool zeros = false;  // given as a number of zero elements that were never written
  bool operator==(const Array&) const = default;
};

// The arrays of one call: one for each buffer that is neither Workgroup nor Private, in order of declaration.
using Arrays = std::vector<Array>;

using Grid = std::array<std::uint32_t, 3>;

// One known defect.
enum class Plant : std::uint8_t {
#define PLANT(enumerator, ...) enumerator,
#include "vyre/fuzz/plants.def"
};

// The finding that a checker must report; Nothing where it must report none.
enum class Defect : std::uint8_t { Race, OutOfBounds, Uninitialised, DivergentBarrier, OrderDependence, Nothing };

struct PlantInfo {
  Plant plant;
  std::string_view name;
  Defect defect;
  std::string_view meaning;
};
inline constexpr std::array kPlants = {
#define PLANT(enumerator, name, defect, meaning) PlantInfo{Plant::enumerator, name, Defect::defect, meaning},
#include "vyre/fuzz/plants.def"
};
constexpr const PlantInfo& info(Plant plant) { return kPlants[static_cast<std::size_t>(plant)]; }

struct Planted {
  Plant plant;
  std::vector<NodeId> statements;  // those that take part, in program order
  std::string buffer;              // empty for a barrier
};

struct Case {
  std::uint64_t seed = 0;
  ir::Program program;
  Arrays arrays;
  Grid grid{1, 1, 1};
  // The arrays that further calls of the same executable bind, one after the other: they have the same names and sizes, and other bytes.
  // State that a backend keeps of a call (uniform words, kernels compiled for them) must not show in the next one.
  std::vector<Arrays> later;
  std::optional<Planted> planted;
};

struct Options {
  // About the largest number of statements; sizes are spread from 1 up to it.
  std::uint32_t statements = 200;
  // Instructions that the reference may execute, about.
  std::uint32_t work = 60'000;
  // Every access is in range and every element read was written before: what a checker must have nothing to say about.
  bool clean = false;
  // Invocations share nothing and mostly go the same way: no barriers, workgroup memory or atomics, and several workgroups along x.
  bool independent = false;
  // Plants one defect into a clean program.
  std::optional<Plant> plant{};
};

// All calls in their order: `arrays` is call 0.
inline std::size_t calls(const Case& that) { return 1 + that.later.size(); }
inline const Arrays& arrays_of(const Case& that, std::size_t call) { return call == 0 ? that.arrays : that.later[call - 1]; }
inline Arrays& arrays_of(Case& that, std::size_t call) { return call == 0 ? that.arrays : that.later[call - 1]; }

}  // namespace vyre::fuzz
