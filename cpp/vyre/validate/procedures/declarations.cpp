// Checks the declarations of a procedure: names (P001), roles (P002) and results (P003).
#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_set>

#include "vyre/ir/data_type.hpp"
#include "vyre/validate/procedures/report.hpp"

namespace vyre::validate {
namespace {

using enum ProcedureMessage;
using ir::ArrayRole;

std::string_view role_name(const ir::ArrayDecl& array) { return ir::kRoleNames[static_cast<std::size_t>(array.role)]; }

// Whether the shape of a table is literal, and has as many bytes as its contents.
bool is_filled(const ir::Procedure& procedure, const ir::ArrayDecl& table) {
  std::uint64_t bytes = std::max(ir::min_bytes(table.element), 1u);
  for (ir::SizeId id : table.shape) {
    const ir::SizeTerm& size = procedure.sizes()[id];
    if (size.op != ir::SizeOp::Literal || __builtin_mul_overflow(bytes, size.literal, &bytes)) return false;
  }
  return bytes == table.contents->size();
}

void check_array(const ir::Procedure& procedure, ir::ArrayId id, ProcedureReport& report) {
  const ir::ArrayDecl& array = procedure.arrays()[id];
  const bool is_given = array.role == ArrayRole::Input || array.role == ArrayRole::InOut;
  const bool is_made = array.role == ArrayRole::Output || array.role == ArrayRole::Scratch;
  if (array.axes < 1 || array.axes > 3) {
    report.add<Axes>(id, array.name, array.axes);
  } else if (is_given && !array.shape.empty()) {
    report.add<ShapeUnwanted>(id, role_name(array), array.name);
  } else if (!is_given && array.shape.size() != array.axes) {
    report.add<ShapeMissing>(id, role_name(array), array.name, array.shape.size(), array.axes);
  } else if (array.role == ArrayRole::Table && array.contents && !is_filled(procedure, array)) {
    report.add<ContentsSize>(id, array.name, array.contents->size());
  }
  if (array.zeros && !is_made) report.add<ZerosUnwanted>(id, role_name(array), array.name);
  if (array.role == ArrayRole::Table && !array.contents) report.add<ContentsMissing>(id, array.name);
  if (array.role != ArrayRole::Table && array.contents) report.add<ContentsUnwanted>(id, role_name(array), array.name);
}

}  // namespace

void check_procedure_declarations(const ir::Procedure& procedure, ProcedureReport& report) {
  std::unordered_set<std::string_view> names;
  for (std::uint32_t index = 0; index < procedure.numbers().size(); ++index) {
    const std::string& name = procedure.numbers()[index].name;
    if (name.empty()) report.add_number<EmptyNumberName>(index, index);
    if (!name.empty() && !names.insert(name).second) report.add_number<DuplicateNumber>(index, name);
  }
  names.clear();
  for (std::uint32_t index = 0; index < procedure.arrays().size(); ++index) {
    const ir::ArrayId id{index};
    const std::string& name = procedure.arrays()[id].name;
    if (name.empty()) report.add<EmptyArrayName>(id, index);
    if (!name.empty() && !names.insert(name).second) report.add<DuplicateArray>(id, name);
    check_array(procedure, id, report);
  }
  IdVector<ir::ArrayId, bool> returned(procedure.arrays().size());
  for (std::uint32_t index = 0; index < procedure.results().size(); ++index) {
    const ir::ArrayId id = procedure.results()[index];
    const ir::ArrayDecl& array = procedure.arrays()[id];
    if (array.role != ArrayRole::Output && array.role != ArrayRole::InOut) {
      report.add_result<ResultRole>(index, role_name(array), array.name);
    } else if (returned[id]) {
      report.add_result<ResultTwice>(index, array.name);
    }
    returned[id] = true;
  }
}

}  // namespace vyre::validate
