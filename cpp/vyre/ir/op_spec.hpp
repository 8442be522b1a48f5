// Defines registered operations and the table in which the stages look them up. The standard library is data handed in (ops/standard.hpp).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include "vyre/base/id.hpp"
#include "vyre/ir/procedures/procedure.hpp"
#include "vyre/ir/program.hpp"
#include "vyre/ir/value.hpp"

namespace vyre::ir {

// The types of an operation's inputs and of its output.
struct OpSignature {
  std::vector<DataType> inputs;
  DataType output = kU32;

  std::uint32_t min_input_bytes() const;
  bool operator==(const OpSignature&) const = default;
};

// The versioned calling contract between the host and an operation.
struct ConventionV1 {
  bool operator==(const ConventionV1&) const = default;
};
struct ConventionV2 {
  std::uint32_t lookup_binding = 0;
  bool operator==(const ConventionV2&) const = default;
};
// Several results and scratch space: how many of each, in this order of bindings.
struct ConventionV3 {
  std::uint32_t inputs = 0, outputs = 0, params = 0, scratch = 0;
  bool operator==(const ConventionV3&) const = default;
};
using Convention = std::variant<ConventionV1, ConventionV2, ConventionV3>;
inline std::size_t version(const Convention& convention) { return convention.index() + 1; }
// As Python writes it: "Convention.V2(lookup_binding=3)".
std::string text(const Convention& convention);

// Algebraic claims about a whole operation, checked on examples and random inputs by the conformance tests.
enum class OpLaw : std::uint8_t { Commutative, Associative, Idempotent, Involution };

struct OpExample {
  std::vector<Value> inputs;
  Value output;
};

// A pure function of values: it sees its arguments and its own constants only, and expressions call it.
struct ValueFunction {
  OpSignature signature;
  std::vector<OpLaw> laws;
  std::vector<OpExample> examples;

  // Inlinable operations have a body: parameters by name, and a program without buffers whose last statement is the Let that
  // computes the result. Operations without a body are dispatched by a host outside of this package, not called (V020).
  std::vector<std::string> parameters;
  std::optional<Program> body;
};

// A registered operation: a value function, or a procedure on whole arrays, which steps of other procedures invoke and expressions do not
// call (V020). Only a value function has a signature, laws and examples; a procedure declares its arrays and numbers itself.
struct OpSpec {
  std::string id;  // dotted, without the version: "primitive.bitwise.xor"
  std::uint32_t version = 1;
  std::string summary;
  std::variant<ValueFunction, Procedure> work;
  std::optional<Convention> asked;  // nothing: its own, see convention()

  const Procedure* procedure() const { return std::get_if<Procedure>(&work); }
  // The operation must be a value function.
  const ValueFunction& function() const;
  ValueFunction& function();

  bool inlinable() const { return procedure() == nullptr && function().body.has_value(); }
  // How a host calls it: as it asks, or by its own convention. That of a value function is V1.
  Convention convention() const;
  // Hashes everything that decides what a call gives. Cache keys and certificates contain the hash.
  std::uint64_t hash() const;
};

// A procedure's own convention: V3 with its inputs (those that it changes among them), outputs, numbers and scratch arrays counted. Its
// tables belong to it and are no argument.
ConventionV3 own_convention(const Procedure& procedure);

// An immutable snapshot of the registry. `id` finds the highest version, `id@2` that one.
class OpTable {
 public:
  using Spec = std::shared_ptr<const OpSpec>;

  // Null when unknown.
  Spec find(std::string_view id) const;
  std::vector<Spec> all() const;  // by id, then version
  // A new table with `spec` added. Throws ArgumentError when a different spec has this id and version.
  OpTable with(Spec spec) const;

 private:
  std::vector<Spec> specs_;  // sorted by id, then version
};

}  // namespace vyre::ir
