// Implements Python's operators on expressions as type slots of the class Expr, so that `x + 1` needs no look-up of `__add__` and no list
// of arguments. Operands that are expressions or plain 64-bit ints are handled in this file. All others go to the methods that pybind11 has
// bound, which convert or refuse them. In-place operators, such as `x += 1`, have slots too, so that a vyre.Builder can refuse them on its
// variables.
#include <array>
#include <cstdint>
#include <string>
#include <utility>

#include "bindings/bindings.hpp"
#include "bindings/construct.hpp"
#include "bindings/guarded.hpp"
#include "vyre/ir/handles/infix.hpp"

namespace vyre::python {
namespace {

using ir::Infix;

struct Slot {
  Infix op;
  binaryfunc PyNumberMethods::*function;
  binaryfunc PyNumberMethods::*in_place;
  const char* method;
  const char* reflected;
};
constexpr std::array kSlots = {
    Slot{Infix::Add, &PyNumberMethods::nb_add, &PyNumberMethods::nb_inplace_add, "__add__", "__radd__"},
    Slot{Infix::Sub, &PyNumberMethods::nb_subtract, &PyNumberMethods::nb_inplace_subtract, "__sub__", "__rsub__"},
    Slot{Infix::Mul, &PyNumberMethods::nb_multiply, &PyNumberMethods::nb_inplace_multiply, "__mul__", "__rmul__"},
    Slot{Infix::Div, &PyNumberMethods::nb_floor_divide, &PyNumberMethods::nb_inplace_floor_divide, "__floordiv__", "__rfloordiv__"},
    Slot{Infix::Mod, &PyNumberMethods::nb_remainder, &PyNumberMethods::nb_inplace_remainder, "__mod__", "__rmod__"},
    Slot{Infix::BitAnd, &PyNumberMethods::nb_and, &PyNumberMethods::nb_inplace_and, "__and__", "__rand__"},
    Slot{Infix::BitOr, &PyNumberMethods::nb_or, &PyNumberMethods::nb_inplace_or, "__or__", "__ror__"},
    Slot{Infix::BitXor, &PyNumberMethods::nb_xor, &PyNumberMethods::nb_inplace_xor, "__xor__", "__rxor__"},
    Slot{Infix::Shl, &PyNumberMethods::nb_lshift, &PyNumberMethods::nb_inplace_lshift, "__lshift__", "__rlshift__"},
    Slot{Infix::Shr, &PyNumberMethods::nb_rshift, &PyNumberMethods::nb_inplace_rshift, "__rshift__", "__rrshift__"},
};
// Indexed by Python's codes of comparisons, from Py_LT to Py_GE.
constexpr std::array kComparisons = {Infix::Lt, Infix::Le, Infix::Eq, Infix::Ne, Infix::Gt, Infix::Ge};

// The Python function that is called before each in-place operator, or null. An exception from it refuses the operator.
PyObject* before_in_place = nullptr;

richcmpfunc compare_by_method = nullptr;  // the first function of the slot, which calls the methods of the class

// Converts an operand: an expression, or an int, which takes the type of the other operand. Returns an empty handle for any other object.
ir::ExprHandle quick_operand(PyObject* object, const ir::SourcePlace& place) {
  if (const PyExpr* expr = exactly<PyExpr>(object)) return expr->handle;
  if (!PyLong_CheckExact(object)) return {};
  int overflow = 0;
  const long long number = PyLong_AsLongLongAndOverflow(object, &overflow);
  if (overflow != 0) return {};
  return ir::expr::integer(ir::Number::of(static_cast<std::uint64_t>(number), number < 0), place);
}

// Returns null without an exception if the operands have to go to the method.
PyObject* infix(Infix op, PyObject* left, PyObject* right) {
  return guarded([&]() -> PyObject* {
    const ir::SourcePlace place = caller();
    ir::ExprHandle first = quick_operand(left, place), second = quick_operand(right, place);
    if (!first || !second) return nullptr;
    return new_instance(PyExpr{ir::expr::infix(op, {std::move(first), std::move(second)}, place)}).release().ptr();
  });
}

// Calls the method of an operator. CPython's own slot function cannot be called for this, because it does nothing unless it is the type's
// slot.
PyObject* by_method(const Slot& slot, PyObject* left, PyObject* right) {
  const bool reflected = !is<PyExpr>(left);
  if (reflected) std::swap(left, right);
  const auto name = py::reinterpret_steal<py::object>(PyUnicode_FromString(reflected ? slot.reflected : slot.method));
  return name ? PyObject_CallMethodOneArg(left, name.ptr(), right) : nullptr;
}

template <std::size_t K>
PyObject* operate(PyObject* left, PyObject* right) {
  PyObject* const made = infix(kSlots[K].op, left, right);
  return made != nullptr || PyErr_Occurred() != nullptr ? made : by_method(kSlots[K], left, right);
}

template <std::size_t K>
PyObject* operate_in_place(PyObject* left, PyObject* right) {
  if (before_in_place != nullptr) {
    const std::string symbol(ir::info(kSlots[K].op).symbol);
    const auto said = py::reinterpret_steal<py::object>(PyObject_CallFunction(before_in_place, "OsO", left, symbol.c_str(), right));
    if (!said) return nullptr;
  }
  return operate<K>(left, right);
}

PyObject* compare(PyObject* left, PyObject* right, int how) {
  PyObject* const made = infix(kComparisons[static_cast<std::size_t>(how)], left, right);
  return made != nullptr || PyErr_Occurred() != nullptr ? made : compare_by_method(left, right, how);
}

template <std::size_t... K>
void install(PyNumberMethods& numbers, std::index_sequence<K...>) {
  ((numbers.*kSlots[K].function = operate<K>, numbers.*kSlots[K].in_place = operate_in_place<K>), ...);
}

}  // namespace

void bind_infix_slots(py::module_& m, py::handle expr) {
  auto* const type = reinterpret_cast<PyTypeObject*>(expr.ptr());
  install(*type->tp_as_number, std::make_index_sequence<kSlots.size()>());
  compare_by_method = std::exchange(type->tp_richcompare, compare);
  m.def("_before_in_place", [](py::object function) { Py_XSETREF(before_in_place, function.release().ptr()); });
}

}  // namespace vyre::python
