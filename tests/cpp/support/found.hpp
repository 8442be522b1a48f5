// What validation finds, as lines that a test can compare whole: "V014 vyre IR validation: ...".
#pragma once

#include <string>
#include <vector>

#include "vyre/validate/validate.hpp"

namespace vyre::sample {

using Found = std::vector<std::string>;

// A rule and the whole sentence that it says.
inline std::string said(const std::string& rule, const std::string& problem, const std::string& fix) {
  return rule + " vyre IR validation: " + problem + ". Fix: " + fix + ".";
}

inline Found lines(const Diagnostics& diagnostics) {
  Found result;
  for (const Diagnostic& diagnostic : diagnostics) result.push_back(diagnostic.rule + " " + diagnostic.message);
  return result;
}
inline Found found(const ir::Program& program, const ir::OpTable& ops = {}) {
  const validate::Verdict verdict = validate::validate(program, ops);
  Found result = lines(verdict.diagnostics);
  if (verdict.program.has_value() != result.empty()) result.push_back("a program is valid exactly when nothing is found");
  return result;
}
inline Found found_in(const ir::OpSpec& spec, const ir::OpTable& ops = {}) { return lines(validate::validate_op(spec, ops)); }

// The rules and places only: "V014 at entry[0].value".
inline Found places(const ir::Program& program, const ir::OpTable& ops = {}) {
  Found result;
  for (const Diagnostic& diagnostic : validate::validate(program, ops).diagnostics) {
    result.push_back(diagnostic.rule + " at " + diagnostic.place.path);
  }
  return result;
}
inline Found rules(const ir::Program& program, const ir::OpTable& ops = {}) {
  Found result;
  for (const Diagnostic& diagnostic : validate::validate(program, ops).diagnostics) result.push_back(diagnostic.rule);
  return result;
}

}  // namespace vyre::sample
