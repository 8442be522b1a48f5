#include "vyre/validate/report.hpp"

#include <algorithm>
#include <tuple>

namespace vyre::validate {

namespace {

// A name of megabytes may be wrong in each of many statements: of a name beyond the first number, as many bytes as the second are
// said from either end.
constexpr std::size_t kLongestText = 256, kKeptBytes = 100;

bool within_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

void append_printable(std::string& out, std::string_view text) {
  for (const char c : text) {
    if (c == '\0') {
      out += "\\0";
    } else {
      out += c;
    }
  }
}

}  // namespace

Text::Text(std::string_view text) {
  if (text.size() <= kLongestText) {
    append_printable(text_, text);
    return;
  }
  std::size_t head = kKeptBytes, tail = text.size() - kKeptBytes;
  while (head > 0 && within_character(text[head])) --head;
  while (tail < text.size() && within_character(text[tail])) ++tail;
  append_printable(text_, text.substr(0, head));
  text_ += "...";
  append_printable(text_, text.substr(tail));
}

void Report::add_filled(Site site, Message message, std::span<const std::string> texts) {
  const MessageInfo& row = info(message);
  findings_.push_back({site, row.rule, filled(row.sentence, texts), message});
}

std::vector<Finding> Report::in_program_order() && {
  // A statement comes after its own steps and before those of the next one.
  auto key = [&](const Finding& finding) {
    const std::uint32_t index = finding.site.index;
    std::uint32_t section = 3, position = 0, tie = 0;
    bool is_step = false;
    switch (finding.site.kind) {
      case Site::Kind::Buffer:
        section = 0;
        tie = index;
        break;
      case Site::Kind::Axis:
        section = 1;
        tie = index;
        break;
      case Site::Kind::Parameter:
        section = 2;
        tie = index;
        break;
      case Site::Kind::Node: {
        const Statement& statement = gathered_.facts.statements[NodeId{index}];
        position = statement.first_step + statement.step_count;
        tie = index;
        break;
      }
      case Site::Kind::Step:
        position = index;
        is_step = true;
        break;
      case Site::Kind::Entry:
        position = ~0u;
        break;
    }
    return std::tuple(section, position, is_step, tie, finding.rule);
  };
  std::stable_sort(findings_.begin(), findings_.end(), [&](const Finding& a, const Finding& b) { return key(a) < key(b); });
  return std::move(findings_);
}

}  // namespace vyre::validate
