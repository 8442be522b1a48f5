// Each instruction becomes one `let`, flat and in order. So a program's nesting never becomes nesting of WGSL expressions, and no
// expression is constant in WGSL's sense: there, 1u / 0u and 1u << 32u between literals are errors of compilation. Names come from slots
// and positions, never from users: v<k> is the value of instruction k, x<k> a variable, b<k> a buffer, s<k> a shared array, p<k> a
// private array.
#include "vyre/emit/wgsl/emit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <vector>

#include "vyre/base/assert.hpp"
#include "vyre/emit/interface.hpp"
#include "vyre/emit/unused_lanes.hpp"

namespace vyre::wgsl {
namespace {

using ir::Extend;
using lower::Instruction;
using lower::Kernel;
using lower::Opcode;
using lower::ValueId;

constexpr std::string_view kAxes = "xyzw";

// WGSL has no 64-bit product: by halves of 16 bits, none of whose sums overflows.
constexpr std::string_view kMulHigh = R"(
fn mul_high(a: u32, b: u32) -> u32 {
  let low = (a & 0xffffu) * (b & 0xffffu);
  let cross_a = (a >> 16u) * (b & 0xffffu);
  let cross_b = (a & 0xffffu) * (b >> 16u);
  let carry = ((low >> 16u) + (cross_a & 0xffffu) + (cross_b & 0xffffu)) >> 16u;
  return (a >> 16u) * (b >> 16u) + (cross_a >> 16u) + (cross_b >> 16u) + carry;
}
)";

std::string_view type(std::uint32_t lanes) {
  VYRE_ASSERT(lanes == 1 || lanes == 2 || lanes == 4);
  return lanes == 1 ? "u32" : lanes == 2 ? "vec2<u32>" : "vec4<u32>";
}

// The type of an array's elements, as the `wgsl` column of types.def has it. Values are u32 lanes, whatever array they were loaded from.
std::string_view element(std::uint32_t lanes, Extend extend) { return extend == Extend::Sign ? "i32" : type(lanes); }

std::string parameter(std::uint32_t word) { return fmt::format("params[{}].{}", word / 4, kAxes[word % 4]); }

// The value of each opcode as an expression: the `wgsl` column of opcodes.def.
constexpr std::string_view kSpellings[] = {
#define VYRE_OPCODE(op, name, imm, flags, forms, spirv, wgsl, ptx) wgsl,
#include "vyre/lower/opcodes.def"
};

class Emitter {
 public:
  explicit Emitter(const Kernel& kernel) : kernel_(kernel), is_variable_(kernel.code.size(), false) {}

  std::string run() {
    hide_indices();
    declare();
    const auto& size = kernel_.workgroup_size;
    put("\n@compute @workgroup_size({}, {}, {})\n", size[0], size[1], size[2]);
    put("fn main(\n  @builtin(workgroup_id) workgroup_id: vec3<u32>,\n  @builtin(local_invocation_id) local_id: vec3<u32>,\n");
    if (!kernel_.shared.empty() || !closed_loops_.empty()) put("  @builtin(local_invocation_index) local_index: u32,\n");
    put(") {{\n");
    zero_shared();
    // Without an initialiser they are zeros.
    for (std::size_t k = 0; k < kernel_.privates.size(); ++k) {
      const lower::PrivateArray& array = kernel_.privates[k];
      line("var p{}: array<{}, {}>;", k, element(array.lanes, array.extend), array.count);
    }
    for (std::size_t k = 0; k < kernel_.variables.size(); ++k) line("var x{}: {};", k, type(kernel_.variables[k]));
    for (std::uint32_t at = 0; at < kernel_.code.size(); ++at) instruction(at, kernel_.code[at]);
    put("}}\n");
    VYRE_ASSERT(depth_ == 1);
    return std::move(text_);
  }

 private:
  template <class... Arguments>
  void put(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Arguments>(arguments)...);
  }
  template <class... Arguments>
  void line(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    text_.append(2 * depth_, ' ');
    put(format, std::forward<Arguments>(arguments)...);
    text_.push_back('\n');
  }
  void open() { ++depth_; }
  void close() {
    VYRE_ASSERT(depth_ > 1);
    --depth_;
  }

  // A store that cannot happen is still written out, and naga looks through a `let` for an index beyond a shared array: such a
  // constant becomes a `var`.
  void hide_indices() {
    for (const Instruction& code : kernel_.code) {
      if (!accesses_memory(code.op)) continue;
      std::uint32_t count = ~0u;
      if (code.op == Opcode::LoadShared || code.op == Opcode::StoreShared || code.shared) count = kernel_.shared[code.imm].count;
      if (code.op == Opcode::LoadPrivate || code.op == Opcode::StorePrivate) count = kernel_.privates[code.imm].count;
      const Instruction& index = kernel_.code[code.a.index];
      if (index.op == Opcode::Constant && count != ~0u && index.imm >= count) is_variable_[code.a.index] = true;
    }
  }

  void declare() {
    const std::size_t count = kernel_.buffers.size();
    put("// Group 0: binding k is buffer b<k>, of at least {} bytes; binding {} is a uniform buffer:\n", kMinBufferBytes, count);
    put("// params[0].xyz is the id of the first workgroup, words {} on are the lengths of b0, b1, ... in elements.\n",
        kWgslFirstLengthWord);
    for (std::size_t k = 0; k < count; ++k) {
      const lower::KernelBuffer& buffer = kernel_.buffers[k];
      put("@group(0) @binding({}) var<storage, {}> b{}: array<{}>;\n", k, buffer.writable ? "read_write" : "read", k,
          buffer.atomic ? "atomic<u32>" : element(buffer.lanes, buffer.extend));
    }
    put("@group(0) @binding({}) var<uniform> params: array<vec4<u32>, {}>;\n", count, (kWgslFirstLengthWord + count + 3) / 4);
    for (std::size_t k = 0; k < kernel_.shared.size(); ++k) {
      const lower::SharedArray& array = kernel_.shared[k];
      put("var<workgroup> s{}: array<{}, {}>;\n", k, array.atomic ? "atomic<u32>" : element(array.lanes, array.extend), array.count);
    }
    if (std::ranges::any_of(kernel_.code, [](const Instruction& code) { return code.op == Opcode::MulHigh; })) text_.append(kMulHigh);
  }

  // WGSL promises zeros, but wgpu leaves them to the driver, and llvmpipe 22.3 gives a workgroup what the one before it on the same
  // core has left.
  void zero_shared() {
    if (kernel_.shared.empty()) return;
    const auto& size = kernel_.workgroup_size;
    const std::uint64_t invocations = std::uint64_t{size[0]} * size[1] * size[2];
    for (std::size_t k = 0; k < kernel_.shared.size(); ++k) {
      const lower::SharedArray& array = kernel_.shared[k];
      if (array.atomic) {
        line("for (var k = local_index; k < {}u; k += {}u) {{ atomicStore(&s{}[k], 0u); }}", array.count, invocations, k);
        continue;
      }
      line("for (var k = local_index; k < {}u; k += {}u) {{ s{}[k] = {}(); }}", array.count, invocations, k,
           element(array.lanes, array.extend));
    }
    line("workgroupBarrier();");
  }

  // `memory` is the letter of the arrays of a kind of memory, which their numbers follow.
  void load(std::uint32_t at, char memory, const Instruction& code, Extend extend, bool atomic) {
    if (atomic) return line("let v{} = atomicLoad(&{}{}[v{}]);", at, memory, code.imm, code.a.index);
    if (extend == Extend::Sign) return line("let v{} = bitcast<u32>({}{}[v{}]);", at, memory, code.imm, code.a.index);
    line("let v{} = {}{}[v{}];", at, memory, code.imm, code.a.index);
  }
  void store(char memory, const Instruction& code, Extend extend, bool atomic) {
    if (atomic) return line("atomicStore(&{}{}[v{}], v{});", memory, code.imm, code.a.index, code.b.index);
    if (extend == Extend::Sign) return line("{}{}[v{}] = bitcast<i32>(v{});", memory, code.imm, code.a.index, code.b.index);
    line("{}{}[v{}] = v{};", memory, code.imm, code.a.index, code.b.index);
  }

  void instruction(std::uint32_t at, const Instruction& code) {
    const std::uint32_t a = code.a.index, b = code.b.index, c = code.c.index, d = code.d.index;
    VYRE_ASSERT(!code.bounded);
    const std::string_view value = kSpellings[static_cast<std::size_t>(code.op)];
    if (!value.empty()) return expression(at, code, value);
    switch (code.op) {
      case Opcode::Constant:
        if (is_variable_[at]) return line("var v{} = {}u;", at, code.imm);
        return line("let v{} = {}u;", at, code.imm);
      case Opcode::WorkgroupId:
        return line("let v{} = {} + workgroup_id.{};", at, parameter(kFirstGroupWord + code.imm), kAxes[code.imm]);
      case Opcode::LocalId:
        return line("let v{} = local_id.{};", at, kAxes[code.imm]);
      case Opcode::InvocationId:
        return line("let v{} = ({} + workgroup_id.{}) * {}u + local_id.{};", at, parameter(kFirstGroupWord + code.imm), kAxes[code.imm],
                    kernel_.workgroup_size[code.imm], kAxes[code.imm]);
      case Opcode::Length:
        return line("let v{} = {};", at, parameter(kWgslFirstLengthWord + code.imm));
      case Opcode::Lane:
        return line("let v{} = v{}.{};", at, a, kAxes[code.imm]);
      case Opcode::Pack:
        if (code.lanes == 2) return line("let v{} = vec2<u32>(v{}, v{});", at, a, b);
        return line("let v{} = vec4<u32>(v{}, v{}, v{}, v{});", at, a, b, c, d);
      case Opcode::ReadVariable:
        return line("let v{} = x{};", at, code.imm);
      case Opcode::WriteVariable:
        return line("x{} = v{};", code.imm, a);
      case Opcode::LoadBuffer:
        return load(at, 'b', code, kernel_.buffers[code.imm].extend, kernel_.buffers[code.imm].atomic);
      case Opcode::StoreBuffer:
        return store('b', code, kernel_.buffers[code.imm].extend, kernel_.buffers[code.imm].atomic);
      case Opcode::LoadPrivate:
        return load(at, 'p', code, kernel_.privates[code.imm].extend, false);
      case Opcode::StorePrivate:
        return store('p', code, kernel_.privates[code.imm].extend, false);
      case Opcode::LoadShared:
        return load(at, 's', code, kernel_.shared[code.imm].extend, kernel_.shared[code.imm].atomic);
      case Opcode::StoreShared:
        return store('s', code, kernel_.shared[code.imm].extend, kernel_.shared[code.imm].atomic);
      case Opcode::AtomicCompareExchange:
        // WGSL's may fail although the value is the expected one: then it is tried again.
        line("var v{}: u32;", at);
        line("loop {{");
        open();
        line("let attempt = atomicCompareExchangeWeak(&{}{}[v{}], v{}, v{});", code.shared ? 's' : 'b', code.imm, a, b, c);
        line("v{} = attempt.old_value;", at);
        line("if (attempt.exchanged || attempt.old_value != v{}) {{ break; }}", b);
        close();
        return line("}}");
      case Opcode::If:
        line("if (v{} != 0u) {{", a);
        return open();
      case Opcode::Else:
        close();
        line("}} else {{");
        return open();
      case Opcode::EndIf:
        close();
        return line("}}");
      case Opcode::Loop:
        return begin_loop(at, code);
      case Opcode::EndLoop:
        close();
        return line("}}");
      case Opcode::Barrier:
        line("storageBarrier();");
        return line("workgroupBarrier();");
      case Opcode::Return:
        return line("return;");
      case Opcode::Break:
        return line("break;");
      default:
        VYRE_ASSERT(false);  // its row of opcodes.def has an expression
    }
  }

  // Turns are counted from 0, as spirv/control_flow.cpp says.
  void begin_loop(std::uint32_t at, const Instruction& code) {
    const std::uint32_t first = code.a.index;
    std::string end = fmt::format("v{}", code.b.index);
    const bool closed = !closed_loops_.empty() && closed_loops_[at];
    const auto close_to_unused_lanes = [&] {
      const auto& size = kernel_.workgroup_size;
      const std::string in_row =
          size[1] * size[2] > 1 ? fmt::format(" && local_index - (local_id.y + local_id.z * {}u) * {}u < {}u", size[1], size[0], size[0])
                                : "";
      line("let end{} = select(0u, {}, local_index < {}u{});", at, end, size[0] * size[1] * size[2], in_row);
      end = fmt::format("end{}", at);
    };
    if (kernel_.code[first].op == Opcode::Constant) {
      if (closed) close_to_unused_lanes();
      line("for (var v{} = v{}; v{} < {}; v{} += 1u) {{", at, first, at, end, at);
      return open();
    }
    line("let turns{} = select(0u, {} - v{}, v{} < {});", at, end, first, first, end);
    end = fmt::format("turns{}", at);
    if (closed) close_to_unused_lanes();
    line("for (var turn{} = 0u; turn{} < {}; turn{} += 1u) {{", at, at, end, at);
    open();
    line("let v{} = v{} + turn{};", at, first, at);
  }

  // A `let` whose value is written in opcodes.def.
  void expression(std::uint32_t at, const Instruction& code, std::string_view value) {
    text_.append(2 * depth_, ' ');
    put("let v{} = ", at);
    for (std::size_t end; (end = value.find('$')) != std::string_view::npos; value.remove_prefix(end + 2)) {
      text_ += value.substr(0, end);
      switch (value[end + 1]) {
        case 'a':
          put("v{}", code.a.index);
          break;
        case 'b':
          put("v{}", code.b.index);
          break;
        case 'c':
          put("v{}", code.c.index);
          break;
        case 'm':
          put("{}{}[v{}]", code.shared ? 's' : 'b', code.imm, code.a.index);
          break;
        default:
          VYRE_ASSERT(false);  // no such operand
      }
    }
    text_ += value;
    text_ += ";\n";
  }

  const Kernel& kernel_;
  std::vector<bool> is_variable_;
  const std::vector<bool> closed_loops_ = emit::loops_closed_to_unused_lanes(kernel_);
  std::string text_;
  std::size_t depth_ = 1;
};

}  // namespace

std::string emit(const Kernel& kernel) { return Emitter(kernel).run(); }

}  // namespace vyre::wgsl
