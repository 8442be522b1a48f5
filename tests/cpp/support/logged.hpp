// The lines that the core logs while an object lives.
#pragma once

#include <string>
#include <vector>

#include "vyre/base/log.hpp"

namespace vyre::test {

class Logged {
 public:
  Logged() { lines().clear(); }
  Logged(const Logged&) = delete;
  ~Logged() { set_logger(before_); }

  static std::vector<std::string>& lines() {
    static std::vector<std::string> list;
    return list;
  }

 private:
  Logger before_ = set_logger([](std::string_view line) { lines().emplace_back(line); });
};

}  // namespace vyre::test
