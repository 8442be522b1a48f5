// Immutable, reference-counted handles to expressions and statements: what a user builds with before there is a Program.
// They know no types, hoist nothing and merge nothing; the identity of a handle is the user's. Chains of 100,000 and nestings of
// 1,000,000 are copied and destroyed without recursion, from any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "vyre/ir/fwd.hpp"
#include "vyre/ir/number.hpp"
#include "vyre/ir/program.hpp"

namespace vyre::ir {

struct ExprData;
struct NodeData;
void release(const ExprData* data) noexcept;
void release(const NodeData* data) noexcept;
void retain(const ExprData* data) noexcept;
void retain(const NodeData* data) noexcept;

// An intrusive pointer; copying is one increment.
template <class Data>
class Handle {
 public:
  Handle() = default;
  explicit Handle(const Data* owned) : data_(owned) {}  // takes over one count
  Handle(const Handle& other) : data_(other.data_) {
    if (data_ != nullptr) retain(data_);
  }
  Handle(Handle&& other) noexcept : data_(std::exchange(other.data_, nullptr)) {}
  Handle& operator=(Handle other) noexcept {
    std::swap(data_, other.data_);
    return *this;
  }
  ~Handle() {
    if (data_ != nullptr) release(data_);
  }

  const Data* operator->() const { return data_; }
  const Data& operator*() const { return *data_; }
  const Data* get() const { return data_; }
  explicit operator bool() const { return data_ != nullptr; }
  bool operator==(const Handle& other) const { return data_ == other.data_; }  // identity

 private:
  friend void release(const ExprData*) noexcept;
  friend void release(const NodeData*) noexcept;
  const Data* detach() noexcept { return std::exchange(data_, nullptr); }

  const Data* data_ = nullptr;
};

using ExprHandle = Handle<ExprData>;
using NodeHandle = Handle<NodeData>;

struct ExprData {
  mutable std::atomic<std::uint32_t> references{1};
  ExprKind kind;
  std::uint8_t op = 0;  // BinOp, UnOp, TernOp, AtomicOp, GridIdKind, or the DataType of Literal, Cast and Pack
  bool has_expected = false;
  bool adapts = false;         // an integer of Python, or a Select of such: resolve() gives it the type that stands opposite
  bool negative = false;       // of such an integer, whose `bits` are its 64-bit two's complement; of a Select, one of its integers
  bool takes_bools = false;    // takes a Bool for a truth as well: resolve() makes one the other
  std::optional<Infix> infix;  // an operator of Python: resolve() chooses the explicit ones
  SourcePlace place;
  std::uint64_t bits = 0;  // a literal's bits, an axis, a lane, the count of a Select's integers
  std::string name;        // of a variable, buffer or operation; of an integer that open_integer() made, its group
  std::vector<ExprHandle> operands;
  mutable const ExprData* next_dead = nullptr;

  bool is_integer() const { return adapts && kind == ExprKind::Literal; }
  bool is_bit() const { return is_integer() && !negative && bits <= 1; }  // an integer that a truth may be
  Number number() const { return Number::of(bits, negative); }            // of an integer of Python
};

enum class NodeKind : std::uint8_t { Let, Assign, Store, If, Loop, Block, Barrier, Return, Break };

struct NodeData {
  mutable std::atomic<std::uint32_t> references{1};
  NodeKind kind;
  bool is_open = false;  // of a Let: an integer that it binds takes the type that the variable's uses want
  SourcePlace place;
  std::string name;                   // of a variable or buffer
  std::vector<ExprHandle> operands;   // in evaluation order
  std::vector<NodeHandle> body;       // of If (then), Loop, Block
  std::vector<NodeHandle> otherwise;  // of If; empty when there is no Else
  mutable const NodeData* next_dead = nullptr;
};

// Constructors, one for each kind, with the names of the documents.
namespace expr {
ExprHandle literal(const Literal& value, SourcePlace place = {});
// An operator of Python, and an integer of Python: only resolve() makes Programs of them.
ExprHandle infix(Infix op, std::vector<ExprHandle> operands, SourcePlace place = {});
ExprHandle integer(Number number, SourcePlace place = {});
// An integer that a variable begins with before its type is known. All of a group have one type: that of the first value with a type
// that is assigned to a variable which began so, else U32.
ExprHandle open_integer(Number number, std::string group, SourcePlace place = {});
// The logical operator, to whose only handle it is given, with operands that may be Bool.
ExprHandle taking_bools(ExprHandle logical);
ExprHandle u32(std::uint32_t value, SourcePlace place = {});
ExprHandle i32(std::int32_t value, SourcePlace place = {});
ExprHandle boolean(bool value, SourcePlace place = {});
ExprHandle u64(std::uint64_t value, SourcePlace place = {});
ExprHandle var(std::string name, SourcePlace place = {});
ExprHandle load(std::string buffer, ExprHandle index, SourcePlace place = {});
ExprHandle buf_len(std::string buffer, SourcePlace place = {});
ExprHandle grid_id(GridIdKind kind, std::uint32_t axis, SourcePlace place = {});
ExprHandle binary(BinOp op, ExprHandle left, ExprHandle right, SourcePlace place = {});
ExprHandle unary(UnOp op, ExprHandle operand, SourcePlace place = {});
ExprHandle apply(const OpInfo& op, std::vector<ExprHandle> operands, SourcePlace place = {});
ExprHandle select(ExprHandle condition, ExprHandle if_true, ExprHandle if_false, SourcePlace place = {});
ExprHandle cast(DataType target, ExprHandle value, SourcePlace place = {});
ExprHandle call(std::string op_id, std::vector<ExprHandle> arguments, SourcePlace place = {});
ExprHandle lane(ExprHandle value, std::uint32_t k, SourcePlace place = {});
ExprHandle pack(DataType type, std::vector<ExprHandle> lanes, SourcePlace place = {});
// `expected` is empty except for CompareExchange; validation judges it (V031).
ExprHandle atomic(AtomicOp op, std::string buffer, ExprHandle index, ExprHandle expected, ExprHandle value, SourcePlace place = {});

inline ExprHandle gid(std::uint32_t axis) { return grid_id(GridIdKind::Invocation, axis); }
inline ExprHandle wid(std::uint32_t axis) { return grid_id(GridIdKind::Workgroup, axis); }
inline ExprHandle lid(std::uint32_t axis) { return grid_id(GridIdKind::Local, axis); }
}  // namespace expr

namespace node {
NodeHandle let(std::string name, ExprHandle value, SourcePlace place = {});
// A Let of a variable of Python, which as such has no type: of a Select of integers it makes one of the type that its uses want.
NodeHandle open_let(std::string name, ExprHandle value, SourcePlace place = {});
NodeHandle assign(std::string name, ExprHandle value, SourcePlace place = {});
NodeHandle store(std::string buffer, ExprHandle index, ExprHandle value, SourcePlace place = {});
NodeHandle if_(ExprHandle condition, std::vector<NodeHandle> then, std::vector<NodeHandle> otherwise = {}, SourcePlace place = {});
NodeHandle loop(std::string variable, ExprHandle from, ExprHandle to, std::vector<NodeHandle> body, SourcePlace place = {});
NodeHandle block(std::vector<NodeHandle> body, SourcePlace place = {});
NodeHandle barrier(SourcePlace place = {});
NodeHandle return_(SourcePlace place = {});
NodeHandle break_(SourcePlace place = {});
}  // namespace node

// Handles for a program's statements again, sharing kept: what Program.entry shows. resolve.hpp makes Programs from handles.
std::vector<NodeHandle> entry_handles(const Program& program);

}  // namespace vyre::ir
