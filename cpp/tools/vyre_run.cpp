// Runs a procedure from a file with its text or its bytes (Procedure.to_text and to_bytes in Python).
//
//   vyre-run FILE [--backend NAME] [--device K] [NAME=VALUE ...]
//
// The value of an input or in_out is a file with the bytes of the array, and of a procedure's array with several axes the lengths follow a
// colon: x=image.bin:480,640. The value of a number is a number, and that of an output, or of an in_out after a second `=`, is a file to
// write. Each result is shown in one line as well.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fstream>
#include <iterator>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "vyre/base/error.hpp"
#include "vyre/base/refused.hpp"
#include "vyre/ir/data_type.hpp"
#include "vyre/ir/procedures/procedure.hpp"
#include "vyre/ir/text/procedure_parse.hpp"
#include "vyre/run/backends.hpp"
#include "vyre/run/procedures/procedure_call.hpp"
#include "vyre/run/registry.hpp"

namespace vyre {
namespace {

ArgumentError wrong_use(std::string_view problem) {
  return ArgumentError(fmt::format("{}. Fix: write vyre-run FILE [--backend NAME] [--device K] [NAME=VALUE ...].", problem));
}
// The most bytes of a result that are shown.
constexpr std::size_t kShown = 16;

std::uint64_t to_number(std::string_view text, std::string_view what) {
  std::uint64_t value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && stop == text.data() + text.size()) return value;
  throw ArgumentError(must_be(what, "a number from 0 to 2^64 - 1", text));
}

// The number of a call, as run::run takes it: the 32 bits of an I32.
std::uint64_t number_of(const ir::NumberDecl& number, std::string_view text) {
  if (number.type != ir::DataType::I32) return to_number(text, number.name);
  std::int32_t value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && stop == text.data() + text.size()) return static_cast<std::uint32_t>(value);
  throw ArgumentError(must_be(number.name, "a number from -2147483648 to 2147483647", text));
}

std::vector<std::byte> read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw ArgumentError(fmt::format("file `{}` cannot be read. Fix: name a file that is there.", path));
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  std::vector<std::byte> result(bytes.size());
  if (!bytes.empty()) std::memcpy(result.data(), bytes.data(), bytes.size());
  return result;
}

void write(const std::string& path, std::span<const std::byte> bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!file.flush()) throw ArgumentError(fmt::format("file `{}` cannot be written. Fix: name another one.", path));
}

struct Arguments {
  std::string file, backend = "cpu";
  std::size_t device = 0;
  std::map<std::string, std::string, std::less<>> values;

  const std::string* find(std::string_view name) const {
    const auto found = values.find(name);
    return found == values.end() ? nullptr : &found->second;
  }
  const std::string& value(std::string_view name) const {
    if (const std::string* found = find(name)) return *found;
    throw wrong_use(fmt::format("`{}` has no value", name));
  }
};

Arguments arguments_of(std::span<char* const> given) {
  Arguments arguments;
  for (std::size_t k = 0; k < given.size(); ++k) {
    const std::string_view text = given[k];
    const auto equals = text.find('=');
    if ((text == "--backend" || text == "--device") && k + 1 < given.size()) {
      const std::string_view value = given[++k];
      if (text == "--backend") {
        arguments.backend = value;
      } else {
        arguments.device = static_cast<std::size_t>(to_number(value, "--device"));
      }
    } else if (equals != std::string_view::npos) {
      arguments.values.emplace(text.substr(0, equals), text.substr(equals + 1));
    } else if (arguments.file.empty() && !text.starts_with('-')) {
      arguments.file = text;
    } else {
      throw wrong_use(fmt::format("argument `{}` is not understood", text));
    }
  }
  if (arguments.file.empty()) throw wrong_use("no procedure is named");
  return arguments;
}

// The array of a file. `path` becomes that of the file.
run::HostArray array_of(const ir::ArrayDecl& decl, std::string& path) {
  run::Shape shape;
  if (const auto colon = path.rfind(':'); colon != std::string::npos && decl.axes > 1) {
    std::string_view lengths = std::string_view(path).substr(colon + 1);
    while (!lengths.empty()) {
      const std::string_view one = lengths.substr(0, lengths.find(','));
      shape.push_back(to_number(one, fmt::format("a length of `{}`", decl.name)));
      lengths.remove_prefix(std::min(one.size() + 1, lengths.size()));
    }
    path.resize(colon);
  }
  std::vector<std::byte> bytes = read(path);
  const std::uint64_t element = run::bytes_of(decl.element, {1});
  if (decl.axes == 1) shape = {bytes.size() / element};
  if (shape.size() != decl.axes || run::bytes_of(decl.element, shape) != bytes.size()) {
    throw BindingError(fmt::format("file `{}` has {} bytes, which are no array of {} with {} axes for `{}`. Fix: write {}=FILE{}.", path,
                                   bytes.size(), ir::text(decl.element), decl.axes, decl.name, decl.name,
                                   decl.axes == 1 ? "" : ":LENGTH,LENGTH"));
  }
  return {std::move(shape), std::move(bytes)};
}

// Bytes begin with one that no text has.
ir::Procedure procedure_of(std::span<const std::byte> file) {
  if (!file.empty() && file.front() == std::byte{0x93}) return ir::procedure_from_bytes(file);
  return ir::parse_procedure({reinterpret_cast<const char*>(file.data()), file.size()});
}

validate::ValidProcedure valid(const ir::Procedure& procedure) {
  validate::ProcedureVerdict verdict = validate::validate(procedure, run::registered_ops());
  if (!verdict.procedure) throw ValidationError(std::move(verdict.diagnostics));
  return *std::move(verdict.procedure);
}

void run_file(const Arguments& arguments) {
  const validate::ValidProcedure checked = valid(procedure_of(read(arguments.file)));
  const ir::Procedure& procedure = checked.procedure();
  run::Backend* const backend = run::find_backend(arguments.backend);
  if (backend == nullptr) throw ArgumentError(fmt::format("there is no backend `{}`. Fix: write --backend cpu.", arguments.backend));
  std::vector<std::uint64_t> numbers;
  for (const ir::NumberDecl& number : procedure.numbers()) numbers.push_back(number_of(number, arguments.value(number.name)));

  const std::vector<ir::ArrayId> interface = procedure.interface();
  std::vector<run::HostArray> arrays;
  std::vector<std::string> results(interface.size());  // files
  for (std::size_t k = 0; k < interface.size(); ++k) {
    const ir::ArrayDecl& decl = procedure.arrays()[interface[k]];
    if (decl.role == ir::ArrayRole::Output) {
      if (const std::string* path = arguments.find(decl.name)) results[k] = *path;
      continue;
    }
    std::string path = arguments.value(decl.name);
    if (const auto second = path.find('='); second != std::string::npos) {
      results[k] = path.substr(second + 1);
      path.resize(second);
    }
    arrays.push_back(array_of(decl, path));
  }

  const std::vector<run::HostArray> given = run::run(checked, arrays, numbers, *backend, arguments.device);
  auto result = given.begin();
  for (std::size_t k = 0; k < interface.size(); ++k) {
    const ir::ArrayDecl& decl = procedure.arrays()[interface[k]];
    if (decl.role == ir::ArrayRole::Input) continue;
    const auto& [shape, bytes] = *result++;
    if (!results[k].empty()) write(results[k], bytes);
    std::string shown;
    for (const std::byte byte : std::span(bytes).first(std::min(bytes.size(), kShown))) shown += fmt::format("{:02x}", byte);
    fmt::print("{}: {} {}, {} bytes: {}{}\n", decl.name, ir::text(decl.element), run::text_of(shape), bytes.size(), shown,
               bytes.size() > kShown ? "..." : "");
  }
}

}  // namespace
}  // namespace vyre

int main(int count, char** arguments) {
  try {
    vyre::run_file(vyre::arguments_of(std::span(arguments, static_cast<std::size_t>(count)).subspan(1)));
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "vyre-run: {}\n", error.what());
    return 1;
  }
}
