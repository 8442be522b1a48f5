#include "vyre/advise/python_text.hpp"

#include <fmt/format.h>

#include "vyre/base/utf8.hpp"
#include "vyre/ir/data_type.hpp"
#include "vyre/validate/report.hpp"

namespace vyre::advise {

using ir::DataType;

std::string python_name(std::string_view name) {
  constexpr std::size_t kWhole = 200;
  return python_literal(name.size() <= kWhole ? name : std::string_view(validate::Text(name).text()));
}

std::string python_type(DataType type) { return fmt::format("DataType.{}", ir::name(type)); }

std::string python_declaration(const ir::BufferDecl& decl) {
  const std::string name = python_name(decl.name), element = python_type(decl.element);
  const std::string length = decl.count > 0 ? fmt::format(", count={}", decl.count) : "";
  const char* function = "read";
  switch (decl.access) {
    case ir::BufferAccess::ReadOnly:
      break;
    case ir::BufferAccess::ReadWrite:
      function = decl.output ? "output" : "read_write";
      break;
    case ir::BufferAccess::Uniform:
      function = "uniform";
      break;
    case ir::BufferAccess::Workgroup:
      return fmt::format("BufferDecl.workgroup({}, {}, {}{})", name, decl.count, element, decl.atomic ? ", atomic=True" : "");
    case ir::BufferAccess::Private:
      return fmt::format("BufferDecl.private({}, {}, {})", name, decl.count, element);
  }
  return fmt::format("BufferDecl.{}({}, {}, {}{})", function, name, decl.binding, element, length);
}

}  // namespace vyre::advise
