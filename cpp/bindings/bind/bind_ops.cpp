// Binds the classes of operations, OpSignature, Convention and OpSpec, and their registry.
#include <fmt/format.h>
#include <pybind11/native_enum.h>
#include <pybind11/stl.h>

#include "bindings/bindings.hpp"
#include "bindings/construct.hpp"
#include "bindings/convert/convert.hpp"
#include "bindings/program.hpp"
#include "bindings/without_gil.hpp"
#include "vyre/base/error.hpp"
#include "vyre/base/overloaded.hpp"
#include "vyre/ir/data_type.hpp"
#include "vyre/ops/body.hpp"
#include "vyre/run/registry.hpp"

namespace vyre::python {
namespace {

using ir::DataType;
using ir::OpLaw;
using ir::OpSignature;

constexpr std::size_t kLaws = 4;

struct PyOpSpec {
  ir::OpTable::Spec spec;
};

std::vector<DataType> to_types(py::handle object, const std::string& where) {
  std::vector<DataType> result;
  for_each(object, where, "a list of DataTypes",
           [&](const py::object& item) { result.push_back(to_type(item, fmt::format("element {} of {}", result.size(), where))); });
  return result;
}

py::tuple types(const std::vector<DataType>& list) { return py::tuple(py::cast(list)); }

std::string text(const OpSignature& signature) {
  std::string inputs;
  for (DataType type : signature.inputs) inputs += fmt::format("{}{}", inputs.empty() ? "" : ", ", ir::name(type));
  return fmt::format("({}) -> {}", inputs, ir::name(signature.output));
}

void refuse_narrow(const OpSignature& signature) {
  std::vector<DataType> types = signature.inputs;
  types.push_back(signature.output);
  for (const DataType type : types) {
    if (!ir::is_narrow(type)) continue;
    throw ArgumentError(
        fmt::format("an operation takes and gives values, and no value has the type {}, which only elements of buffers have. "
                    "Fix: write DataType.{}, which such elements load as.",
                    ir::name(type), ir::name(ir::value_type(type))));
  }
}

void bind_signature(py::module_& m) {
  py::class_<OpSignature> signature(m, "OpSignature", py::is_final(), made_whole<OpSignature>(), R"(OpSignature(inputs, output)

The types of an operation's inputs and of its output.

>>> vyre.OpSignature([vyre.u32, vyre.u32], vyre.u32).min_input_bytes()
8)");
  def_new(signature, [](const py::args& args, const py::kwargs& kwargs) {
    static const Signature names{"OpSignature", {"inputs", "output"}, 2, 2};
    const std::vector<py::object> given = bind_arguments(names, args, kwargs);
    OpSignature made{to_types(given[0], "argument `inputs` of OpSignature"), to_type(given[1], "argument `output` of OpSignature")};
    refuse_narrow(made);
    return made;
  });
  signature.def_property_readonly(
      "inputs", [](const OpSignature& self) { return types(self.inputs); }, "DataTypes, in order.");
  signature.def_property_readonly(
      "output", [](const OpSignature& self) { return self.output; }, "The DataType of the result.");
  signature.def("min_input_bytes", &OpSignature::min_input_bytes, R"(min_input_bytes() -> int

The bytes of one element of every input together.

>>> vyre.OpSignature([vyre.u64], vyre.u32).min_input_bytes()
8)");
  signature.def("__eq__", [](const OpSignature& self, py::handle other) {
    return is<OpSignature>(other) && self == other.cast<const OpSignature&>();
  });
  signature.def("__hash__", [](const OpSignature& self) { return py::hash(py::make_tuple(types(self.inputs), self.output)); });
  signature.def("__repr__", [](const OpSignature& self) { return fmt::format("<vyre.OpSignature {}>", text(self)); });
  signature.def("__reduce__", [](const OpSignature& self) {
    return py::make_tuple(py::type::of<OpSignature>(), py::make_tuple(types(self.inputs), self.output));
  });
}

struct PyConvention {
  ir::Convention value;
};

void bind_convention(py::module_& m) {
  py::class_<PyConvention> convention(m, "Convention", py::is_final(), made_whole<PyConvention>(),
                                      R"(The versioned calling contract between the host and an operation.

>>> vyre.Convention.V2(lookup_binding=3)
Convention.V2(lookup_binding=3))");
  def_no_new(convention, "write Convention.V1(), V2(lookup_binding) or V3(...)");
  convention.def_static(
      "V1", [] { return PyConvention{ir::ConventionV1{}}; },
      "V1() -> Convention\n\nInputs (read), one output (read_write), params (uniform).");
  convention.def_static(
      "V2",
      [](py::handle binding) { return PyConvention{ir::ConventionV2{to_u32(binding, "argument `lookup_binding` of Convention.V2")}}; },
      py::arg("lookup_binding"), "V2(lookup_binding) -> Convention\n\nV1 and a lookup table (read) at this binding.");
  convention.def_static(
      "V3",
      [](py::handle inputs, py::handle outputs, py::handle params, py::handle scratch) {
        return PyConvention{
            ir::ConventionV3{to_u32(inputs, "argument `inputs` of Convention.V3"), to_u32(outputs, "argument `outputs` of Convention.V3"),
                             to_u32(params, "argument `params` of Convention.V3"), to_u32(scratch, "argument `scratch` of Convention.V3")}};
      },
      py::arg("inputs"), py::arg("outputs"), py::arg("params"), py::arg("scratch"),
      "V3(inputs, outputs, params, scratch) -> Convention\n\nThe number of buffers of each kind, with bindings in this order.");
  convention.def_property_readonly(
      "version", [](const PyConvention& self) { return ir::version(self.value); }, "1, 2 or 3.");
  auto spelling = [](const PyConvention& self) { return ir::text(self.value); };
  convention.def("__repr__", spelling);
  convention.def("__eq__", [](const PyConvention& self, py::handle other) {
    return is<PyConvention>(other) && self.value == other.cast<const PyConvention&>().value;
  });
  convention.def("__reduce__", [](const PyConvention& self) {
    const py::tuple numbers = match(
        self.value, [](const ir::ConventionV1&) -> py::tuple { return py::make_tuple(1); },
        [](const ir::ConventionV2& v2) -> py::tuple { return py::make_tuple(2, v2.lookup_binding); },
        [](const ir::ConventionV3& v3) -> py::tuple { return py::make_tuple(3, v3.inputs, v3.outputs, v3.params, v3.scratch); });
    return py::make_tuple(py::module_::import("vyre._pickle").attr("convention"), numbers);
  });
  convention.def("__hash__", [spelling](const PyConvention& self) { return py::hash(py::str(spelling(self))); });
}

// Converts the argument `result`. An integer takes the type of the operation's output.
ir::ExprHandle to_result(py::handle object, DataType output) {
  const std::string where = "argument `result` of OpSpec";
  const ir::TypeInfo& type = ir::info(output);
  if (!is_integer(object) || !type.literal || type.kind == ir::TypeKind::Boolean) return to_expr(object, where);
  const ir::Value value = to_value(object, output, where);
  return ir::expr::literal({output, value.lanes[0], value.lanes[1]}, caller());
}

// The arguments of OpSpec, in the order of the call; null where nothing was given.
enum SpecArgument : std::size_t {
  kId,
  kSignature,
  kParameters,
  kBody,
  kResult,
  kVersion,
  kConvention,
  kSummary,
  kLawsGiven,
  kExamples,
  kProcedure,
};
using SpecArguments = std::vector<py::object>;

py::object or_else(const py::object& given, const py::object& otherwise) { return given ? given : otherwise; }

std::vector<OpLaw> to_laws(py::handle laws) {
  std::vector<OpLaw> result;
  for (const py::object& law : to_list(laws, "argument `laws` of OpSpec", "a list of OpLaws")) {
    result.push_back(to_member<OpLaw>(law, kLaws, "an element of argument `laws` of OpSpec", "an OpLaw"));
  }
  return result;
}

std::vector<ir::OpExample> to_examples(py::handle examples, const OpSignature& signature) {
  std::vector<ir::OpExample> result;
  for_each(examples, "argument `examples` of OpSpec", "a list of (inputs, output)", [&](const py::object& item) {
    const std::string where = fmt::format("element {} of argument `examples` of OpSpec", result.size());
    const std::vector<py::object> pair = to_list(item, where, "a pair (inputs, output)");
    if (pair.size() != 2) reject(where, "a pair (inputs, output)", item);
    const std::vector<py::object> inputs = to_list(pair[0], where, "a pair (inputs, output)");
    if (inputs.size() != signature.inputs.size()) {
      reject(where, fmt::format("inputs for a signature of {}", signature.inputs.size()), pair[0]);
    }
    ir::OpExample example;
    for (std::size_t k = 0; k < inputs.size(); ++k) example.inputs.push_back(to_value(inputs[k], signature.inputs[k], where));
    example.output = to_value(pair[1], signature.output, where);
    result.push_back(std::move(example));
  });
  return result;
}

ir::ValueFunction make_function(const std::string& id, const SpecArguments& given) {
  ir::ValueFunction function;
  const py::object& signature = given[kSignature];
  if (!is<OpSignature>(signature)) {
    reject("argument `signature` of OpSpec", "an OpSignature", signature);
  }
  function.signature = signature.cast<const OpSignature&>();
  for_each(or_else(given[kParameters], py::tuple()), "argument `parameters` of OpSpec", "a list of names", [&](const py::object& name) {
    function.parameters.push_back(to_text(name, fmt::format("element {} of argument `parameters` of OpSpec", function.parameters.size())));
  });
  function.laws = to_laws(or_else(given[kLawsGiven], py::tuple()));
  function.examples = to_examples(or_else(given[kExamples], py::tuple()), function.signature);
  std::vector<ir::NodeHandle> statements = to_nodes(or_else(given[kBody], py::tuple()), "argument `body` of OpSpec");
  const py::object result = or_else(given[kResult], py::none());
  if (result.is_none()) {
    if (!statements.empty())
      throw ArgumentError("OpSpec has a body and no result. Fix: pass result=<the expression that the operation gives>.");
    return function;
  }
  if (function.parameters.size() != function.signature.inputs.size()) {
    throw ArgumentError(fmt::format("OpSpec `{}` has {} parameters for {} inputs. Fix: name each input once in `parameters`.", id,
                                    function.parameters.size(), function.signature.inputs.size()));
  }
  ir::ExprHandle value = to_result(result, function.signature.output);
  const ir::SourcePlace place = caller();
  const WithoutGil unlocked;
  std::vector<std::pair<std::string, DataType>> parameters_with_types;
  for (std::size_t k = 0; k < function.parameters.size(); ++k) {
    parameters_with_types.emplace_back(function.parameters[k], function.signature.inputs[k]);
  }
  ops::add_result(function.parameters, statements, std::move(value), place);
  function.body = resolved({}, {1, 1, 1}, statements, std::move(parameters_with_types), place);
  return function;
}

ir::Procedure to_procedure(const std::string& id, const SpecArguments& given) {
  static constexpr std::array kOfFunctions = {
      std::pair{kSignature, "signature"}, std::pair{kParameters, "parameters"}, std::pair{kBody, "body"},
      std::pair{kResult, "result"},       std::pair{kLawsGiven, "laws"},        std::pair{kExamples, "examples"},
  };
  for (const auto& [which, name] : kOfFunctions) {
    const py::handle value = given[which];
    if (!value || value.is_none() || (py::isinstance<py::tuple>(value) && py::len(value) == 0)) continue;  // the defaults
    throw ArgumentError(
        fmt::format("OpSpec `{}` has a procedure and `{}`, which is for functions of values: a procedure declares its arrays itself. "
                    "Fix: leave out `{}`.",
                    id, name, name));
  }
  if (!is<ir::Procedure>(given[kProcedure])) {
    reject("argument `procedure` of OpSpec", "a Procedure", given[kProcedure]);
  }
  return given[kProcedure].cast<const ir::Procedure&>();
}

std::shared_ptr<ir::OpSpec> make_spec(const SpecArguments& given) {
  auto spec = std::make_shared<ir::OpSpec>();
  spec->id = to_text(given[kId], "argument `id` of OpSpec");
  if (spec->id.find('.') == std::string::npos || spec->id.find('@') != std::string::npos || spec->id.find('\0') != std::string::npos) {
    reject("argument `id` of OpSpec", "a dotted name without `@`", given[kId]);
  }
  spec->version = to_u32(or_else(given[kVersion], py::int_(1)), "argument `version` of OpSpec");
  spec->summary = to_text(or_else(given[kSummary], py::str("")), "argument `summary` of OpSpec");
  if (given[kProcedure]) {
    spec->work = to_procedure(spec->id, given);
  } else if (given[kSignature]) {
    spec->work = make_function(spec->id, given);
  } else {
    throw CallError("OpSpec() misses argument `signature`. Fix: pass it, or the `procedure` of an operation on whole arrays.");
  }
  if (const py::object convention = or_else(given[kConvention], py::none()); !convention.is_none()) {
    if (!is<PyConvention>(convention)) reject("argument `convention` of OpSpec", "a Convention", convention);
    const ir::Convention& asked = convention.cast<const PyConvention&>().value;
    if (asked != spec->convention()) spec->asked = asked;
  }
  return spec;
}

py::tuple parameters_of(const ir::OpSpec& spec) {
  const ir::Procedure* const procedure = spec.procedure();
  if (procedure == nullptr) return py::tuple(lenient_list(spec.function().parameters));
  std::vector<std::string> names;
  for (const ir::ArrayId id : procedure->interface()) {
    const ir::ArrayDecl& array = procedure->arrays()[id];
    if (array.role != ir::ArrayRole::Output) names.push_back(array.name);
  }
  for (const ir::NumberDecl& number : procedure->numbers()) names.push_back(number.name);
  return py::tuple(lenient_list(names));
}

py::tuple examples_of(const ir::OpSpec& spec) {
  py::list result;
  if (spec.procedure() != nullptr) return py::tuple(result);
  const OpSignature& signature = spec.function().signature;
  for (const ir::OpExample& example : spec.function().examples) {
    py::list inputs;
    for (std::size_t k = 0; k < example.inputs.size(); ++k) inputs.append(to_python(example.inputs[k], signature.inputs[k]));
    result.append(py::make_tuple(py::tuple(inputs), to_python(example.output, signature.output)));
  }
  return py::tuple(result);
}

std::string spelling_of(const ir::OpSpec& spec) {
  if (const ir::Procedure* procedure = spec.procedure()) {
    return fmt::format("<vyre.OpSpec {}@{} procedure {}>", spec.id, spec.version, procedure->name());
  }
  return fmt::format("<vyre.OpSpec {}@{} {}>", spec.id, spec.version, text(spec.function().signature));
}

void bind_spec(py::module_& m) {
  py::class_<PyOpSpec> spec(
      m, "OpSpec", py::is_final(), made_whole<PyOpSpec>(),
      R"(OpSpec(id, signature=None, *, parameters=(), body=(), result=None, version=1, convention=None, summary="", laws=(), examples=(), procedure=None)

An operation: a pure function of values, which expressions call by id, or a procedure on whole arrays, which other procedures invoke by id.

The body of a function of values reads nothing but arguments and constants. An operation has a signature or a procedure; what is said of
signatures, bodies, laws and examples is for functions alone, because a procedure declares its arrays and numbers itself.

Args:
    id: a dotted name.
    signature: an OpSignature.
    parameters: a name for each input; the body reads them with Expr.var(name).
    body: Nodes before the result: let, assign, if_, loop and block.
    result: the expression that the operation gives. Without it the operation cannot be called in expressions (V020).
    convention: a Convention; None is Convention.V1(), or for a procedure the V3 of its arrays and numbers.
    laws: OpLaws that hold for all inputs.
    examples: ((input, ...), output) as integers, bools or tuples of lanes.
    procedure: a Procedure. Expressions cannot call the operation (V020); vyre.ops.invoke does.

>>> a, b = vyre.Expr.var("a"), vyre.Expr.var("b")
>>> vyre.OpSpec("acme.nand", vyre.OpSignature([vyre.u32, vyre.u32], vyre.u32), parameters=["a", "b"], result=~(a & b))
<vyre.OpSpec acme.nand@1 (U32, U32) -> U32>
>>> @vyre.procedure
... def cleared(x: vyre.InOut[vyre.u32]):
...     vyre.clear(x)
>>> vyre.OpSpec("acme.cleared", procedure=cleared.procedure)
<vyre.OpSpec acme.cleared@1 procedure cleared>)");
  def_new(spec, [](const py::args& args, const py::kwargs& kwargs) {
    static const Signature names{
        "OpSpec",
        {"id", "signature", "parameters", "body", "result", "version", "convention", "summary", "laws", "examples", "procedure"},
        1,
        2};
    SpecArguments given = bind_arguments(names, args, kwargs);
    if (given[kProcedure] && given[kProcedure].is_none()) given[kProcedure] = py::object();
    if (given[kSignature] && given[kSignature].is_none() && given[kProcedure]) given[kSignature] = py::object();
    return PyOpSpec{make_spec(given)};
  });
  spec.def("__reduce__", [](const PyOpSpec& self) { return py::module_::import("vyre._pickle").attr("reduced_spec")(py::cast(self)); });
  spec.def("__copy__", [](py::object self) { return self; });
  spec.def("__deepcopy__", [](py::object self, py::handle) { return self; });
  spec.def_property_readonly(
      "id", [](const PyOpSpec& self) { return lenient_str(self.spec->id); }, "The dotted name, without the version.");
  spec.def_property_readonly(
      "version", [](const PyOpSpec& self) { return self.spec->version; }, "The version: `id@version` pins it.");
  spec.def_property_readonly(
      "signature",
      [](const PyOpSpec& self) {
        return self.spec->procedure() != nullptr ? py::object(py::none()) : py::cast(self.spec->function().signature);
      },
      "An OpSignature; None for a procedure, which declares arrays.");
  spec.def_property_readonly(
      "convention", [](const PyOpSpec& self) { return PyConvention{self.spec->convention()}; }, "The Convention by which a host calls it.");
  spec.def_property_readonly(
      "summary", [](const PyOpSpec& self) { return lenient_str(self.spec->summary); }, "A sentence that says what the operation computes.");
  spec.def_property_readonly(
      "parameters", [](const PyOpSpec& self) { return parameters_of(*self.spec); },
      "The names of the inputs; for a procedure those of its arrays, then those of its numbers.");
  spec.def_property_readonly(
      "inlinable", [](const PyOpSpec& self) { return self.spec->inlinable(); }, "Whether expressions can call it.");
  spec.def_property_readonly(
      "body",
      [](const PyOpSpec& self) {
        return self.spec->inlinable() ? py::cast(PyProgram(*self.spec->function().body)) : py::object(py::none());
      },
      "A Program whose last statement binds the result; None when it cannot be called.");
  spec.def_property_readonly(
      "procedure",
      [](const PyOpSpec& self) { return self.spec->procedure() != nullptr ? py::cast(*self.spec->procedure()) : py::object(py::none()); },
      "The Procedure; None for a function of values.");
  spec.def_property_readonly(
      "laws",
      [](const PyOpSpec& self) {
        return self.spec->procedure() != nullptr ? py::tuple() : py::tuple(py::cast(self.spec->function().laws));
      },
      "OpLaws that hold for all inputs; none of a procedure.");
  spec.def_property_readonly(
      "examples", [](const PyOpSpec& self) { return examples_of(*self.spec); }, "((input, ...), output) pairs; none of a procedure.");
  spec.def("__eq__", [](const PyOpSpec& self, py::handle other) {
    if (!is<PyOpSpec>(other)) return false;
    const ir::OpSpec& theirs = *other.cast<const PyOpSpec&>().spec;
    return self.spec->id == theirs.id && self.spec->version == theirs.version && self.spec->hash() == theirs.hash();
  });
  spec.def("__hash__", [](const PyOpSpec& self) { return static_cast<py::ssize_t>(self.spec->hash() >> 1); });
  def_html_form(spec, "operation");
  spec.def("__repr__", [](const PyOpSpec& self) { return lenient_str(spelling_of(*self.spec)); });
}

}  // namespace

void bind_ops(py::module_& m) {
  py::native_enum<OpLaw>(m, "OpLaw", "vyre._enums.TableEnum", "A law that an operation claims to obey for all inputs.")
      .value("Commutative", OpLaw::Commutative)
      .value("Associative", OpLaw::Associative)
      .value("Idempotent", OpLaw::Idempotent)
      .value("Involution", OpLaw::Involution)
      .finalize();
  bind_signature(m);
  bind_convention(m);
  bind_spec(m);
  m.def(
      "_op_get",
      [](py::handle id) -> py::object {
        const std::string where = "argument `id` of vyre.ops.get";
        const std::string name = to_text(id, where);
        if (name.find('\0') != std::string::npos) reject(where, "an id without NUL", id);
        return py::cast(PyOpSpec{run::registered_op(name)});
      },
      py::arg("id"));
  m.def("_op_all", [] {
    py::list result;
    for (ir::OpTable::Spec& spec : run::registered_ops().all()) result.append(py::cast(PyOpSpec{std::move(spec)}));
    return result;
  });
  m.def(
      "_op_register",
      [](py::handle spec) {
        if (!is<PyOpSpec>(spec)) reject("argument `spec` of vyre.ops.register", "an OpSpec", spec);
        ir::OpTable::Spec given = spec.cast<const PyOpSpec&>().spec;
        const WithoutGil unlocked;
        run::register_op(*given);
      },
      py::arg("spec"));
}

}  // namespace vyre::python
