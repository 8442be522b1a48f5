#include "vyre/ir/place.hpp"

#include <mutex>

#include "vyre/base/fork.hpp"
#include "vyre/base/interner.hpp"

namespace vyre::ir {
namespace {

struct Files {
  ForkSafeMutex mutex;
  Interner names;
};

// Never destroyed: handles may outlive static destruction.
Files& files() {
  static Files* instance = new Files;
  return *instance;
}

}  // namespace

std::uint32_t intern_file(std::string_view name) {
  Files& all = files();
  std::lock_guard lock(all.mutex);
  return all.names.intern(name).index + 1;
}

std::string file_name(std::uint32_t file) {
  if (file == 0) return {};
  Files& all = files();
  std::lock_guard lock(all.mutex);
  return std::string(all.names.text(NameId{file - 1}));
}

Place described(std::string path, SourcePlace place) {
  Place result;
  result.path = std::move(path);
  if (!place.known()) return result;
  result.file = file_name(place.file);
  result.line = static_cast<int>(place.line);
  result.column = place.column;
  result.end_column = place.end_column;
  return result;
}

}  // namespace vyre::ir
