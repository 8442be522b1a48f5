// Binds the enumerations, whose members come from the tables of the IR. They are ordinary Python enums; vyre/_enums.py defines their
// methods.
#include <fmt/format.h>
#include <pybind11/native_enum.h>
#include <pybind11/stl.h>

#include "bindings/bindings.hpp"
#include "vyre/ir/handles/by_type.hpp"
#include "vyre/ir/handles/infix.hpp"
#include "vyre/ir/semantics.hpp"

namespace vyre::python {

void bind_types(py::module_& m) {
  const auto bind_enum = [&]<class Row, class Enum>(const char* name, const char* doc, const auto& rows, Enum Row::*member,
                                                    const char* type = "vyre._enums.TableEnum") {
    py::native_enum<Enum> made(m, name, type, doc);
    for (const Row& row : rows) made.value(row.name.data(), row.*member);
    made.finalize();
  };
  bind_enum("DataType", "The type of a value or of a buffer's element; `min_bytes()` is an element's size.", ir::kTypes,
            &ir::TypeInfo::type, "vyre._enums.TypeEnum");
  bind_enum("BufferAccess", "How a program may use a buffer.", ir::kAccesses, &ir::AccessInfo::access);
  bind_enum("BinOp", "The binary operators; each is also a function of Expr and of vyre.", ir::kBinOps, &ir::BinOpInfo::op);
  bind_enum("UnOp", "The unary operators; each is also a function of Expr and of vyre.", ir::kUnOps, &ir::UnOpInfo::op);
  bind_enum("AtomicOp", "The atomic operations; each is also a function of Expr and of vyre.", ir::kAtomicOps, &ir::AtomicOpInfo::op);

  // The tables themselves, for the generated reference and the tests: rows of plain values.
  py::dict tables;
  const py::object type_row =
      py::module_::import("collections")
          .attr("namedtuple")("TypeRow", "name text bytes lanes wgsl numpy meaning number kind component components dtype value literal");
  tables["types"] = rows_of(ir::kTypes, [&](const ir::TypeInfo& row) {
    std::string numpy(row.numpy);
    if (!row.also.empty()) numpy = fmt::format("{}, {}", numpy, row.also);
    if (row.components > 1) numpy = fmt::format("{} x {}", numpy, row.components);
    return type_row(row.name, row.text, row.bytes, row.lanes, row.wgsl, numpy, row.meaning, row.number,
                    py::str(row.kind_name).attr("lower")(), ir::name(row.component), row.components, row.numpy, ir::name(row.value),
                    row.literal);
  });
  tables["casts"] = rows_of(ir::kCasts, [](const ir::CastRow& row) { return py::make_tuple(ir::name(row.source), ir::name(row.target)); });
  tables["cast_kinds"] =
      rows_of(ir::kCasts, [](const ir::CastRow& row) { return py::make_tuple(ir::name(row.source), ir::name(row.target), row.kind_name); });
  tables["binary"] = rows_of(ir::kBinOps, [](const ir::BinOpInfo& row) {
    return py::make_tuple(row.name, row.text, row.infix, ir::name(row.operands[0]), ir::name(row.operands[1]), ir::name(row.result),
                          row.meaning);
  });
  const py::object infix_row = py::module_::import("collections").attr("namedtuple")("InfixRow", "symbol function shape types");
  tables["infix"] = rows_of(ir::kInfixes, [&](const ir::InfixInfo& row) {
    py::list types;
    for (const ir::TypeInfo& type : ir::kTypes) {
      if (ir::meaning(row.op, type.type) != nullptr) types.append(type.name);
    }
    return infix_row(row.symbol, row.function, row.shape_name, py::tuple(types));
  });
  const py::object by_type_row =
      py::module_::import("collections").attr("namedtuple")("ByTypeRow", "function parameters operations meaning");
  tables["by_type"] = rows_of(ir::kByType, [&](const ir::ByType& row) {
    py::dict chosen;
    for (const auto& [function, type, operation] : row.choices) chosen[py::str(ir::name(type))] = operation;
    return by_type_row(row.name, py::str(row.parameters).attr("split")(), chosen, row.meaning);
  });
  tables["unary"] = rows_of(ir::kUnOps, [](const ir::UnOpInfo& row) {
    return py::make_tuple(row.name, row.text, ir::name(row.operands[0]), ir::name(row.result), row.meaning);
  });
  py::list ternary;
#define TERNOP(enumerator, text, number, name_a, name_b, name_c, a, b, c, result, rule, value, laws, meaning) \
  ternary.append(py::make_tuple(#enumerator, text, number, #a, #b, #c, #result, meaning));
#include "vyre/ir/ternary.def"
  tables["ternary"] = py::tuple(ternary);
  tables["atomic"] = rows_of(ir::kAtomicOps, [](const ir::AtomicOpInfo& row) { return py::make_tuple(row.name, row.text, row.meaning); });
  m.attr("_tables") = tables;
}

}  // namespace vyre::python
