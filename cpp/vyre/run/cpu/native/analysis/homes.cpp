// Assigns registers by a linear scan: cells are taken in the order of their definitions. If no register is free, the cell with the fewest
// accesses for the length of its live range is spilled for the whole range. On x86 an operand in memory costs little, so no cell moves
// between a register and memory.
#include "vyre/run/cpu/native/analysis/homes.hpp"

#include <algorithm>
#include <queue>

namespace vyre::run::cpu::native {
namespace {

bool has_home(const Cell& cell) { return !cell.constant && cell.form != Form::Folded && cell.end > cell.begin; }
// Where a register stops to hold the cell. The register of a cell that crosses holds it in the region that makes it, beside the slot.
std::uint32_t register_end(const Cell& cell) { return cell.crosses ? cell.near_end : cell.end; }
bool in_registers(const Cell& cell) { return has_home(cell) && register_end(cell) > cell.begin; }

float density(const Cell& cell) {
  return (cell.crosses ? cell.near_weight : cell.weight) / static_cast<float>(register_end(cell) - cell.begin + 1);
}

class Scan {
 public:
  Scan(const Analysis& analysis, Homes& homes, std::vector<int> registers)
      : analysis_(analysis), homes_(homes), free_(std::move(registers)) {}

  void run(const std::vector<CellId>& cells) {
    for (const CellId id : cells) {
      const Cell& cell = analysis_.cells[id];
      std::erase_if(active_, [&](CellId other) {
        if (register_end(analysis_.cells[other]) > cell.begin) return false;
        free_.push_back(homes_.of[other].reg);
        return true;
      });
      take(id);
    }
  }

 private:
  void take(CellId id) {
    if (!free_.empty()) {
      homes_.of[id].reg = static_cast<std::int16_t>(free_.back());
      free_.pop_back();
      active_.push_back(id);
      return;
    }
    const auto least = std::ranges::min_element(active_, {}, [&](CellId other) { return density(analysis_.cells[other]); });
    if (least == active_.end() || density(analysis_.cells[*least]) >= density(analysis_.cells[id])) return;
    homes_.of[id].reg = std::exchange(homes_.of[*least].reg, static_cast<std::int16_t>(-1));
    *least = id;
  }

  const Analysis& analysis_;
  Homes& homes_;
  std::vector<int> free_;
  std::vector<CellId> active_;
};

// Gives slots in the frame to cells, and the same slot to cells that live one after the other.
void assign_slots(const Analysis& analysis, const std::vector<CellId>& cells, std::uint32_t bytes, Homes& homes) {
  using Ending = std::pair<std::uint32_t, std::int32_t>;  // when a slot becomes free, and the slot
  std::priority_queue<Ending, std::vector<Ending>, std::greater<>> busy;
  for (const CellId id : cells) {
    const Cell& cell = analysis.cells[id];
    std::int32_t slot;
    if (!busy.empty() && busy.top().first <= cell.begin) {
      slot = busy.top().second;
      busy.pop();
    } else {
      slot = static_cast<std::int32_t>(homes.frame_bytes);
      homes.frame_bytes += bytes;
    }
    homes.of[id].slot = slot;
    busy.emplace(cell.end, slot);
  }
}

template <class Keep>
std::vector<CellId> by_begin(const Analysis& analysis, const Keep& keep) {
  std::vector<CellId> ids;
  for (CellId id = 0; id < analysis.cells.size(); ++id) {
    if (keep(analysis.cells[id])) ids.push_back(id);
  }
  std::ranges::stable_sort(ids, {}, [&](CellId id) { return analysis.cells[id].begin; });
  return ids;
}

}  // namespace

std::uint32_t pressure(const Analysis& analysis) {
  std::vector<std::pair<std::uint32_t, int>> changes;
  for (const Cell& cell : analysis.cells) {
    if (!cell.varying || cell.crosses || !in_registers(cell)) continue;
    changes.emplace_back(cell.begin, 1);
    changes.emplace_back(cell.end, -1);
  }
  std::ranges::sort(changes);
  int live = 0, most = 0;
  for (const auto& [position, change] : changes) most = std::max(most, live += change);
  return static_cast<std::uint32_t>(most);
}

Homes assign_homes(const Analysis& analysis, const RegisterFile& file, std::uint32_t vector_bytes, std::uint32_t crossing_bytes) {
  Homes homes;
  homes.of.resize(analysis.cells.size());
  std::vector<int> vectors;
  for (int reg = file.vectors; reg-- > 0;) vectors.push_back(reg);
  Scan(analysis, homes, vectors).run(by_begin(analysis, [](const Cell& cell) { return cell.varying && in_registers(cell); }));
  Scan(analysis, homes, file.generals).run(by_begin(analysis, [](const Cell& cell) { return !cell.varying && in_registers(cell); }));

  std::vector<CellId> spilled, words;
  std::uint32_t crossing_words = 0;
  for (const CellId id : by_begin(analysis, has_home)) {
    const Cell& cell = analysis.cells[id];
    if (cell.crosses && (cell.varying || cell.of_group)) {
      homes.of[id].slot = static_cast<std::int32_t>(homes.crossing_cells++ * crossing_bytes);
    } else if (cell.varying && homes.of[id].reg < 0) {
      spilled.push_back(id);
    } else if (!cell.varying && cell.crosses) {
      // A region reads this slot again for each group of lanes, so no other cell may share the slot.
      homes.of[id].slot = static_cast<std::int32_t>(crossing_words++ * sizeof(std::uint32_t));
    } else if (!cell.varying && (cell.read_as_vector || homes.of[id].reg < 0)) {
      words.push_back(id);
    }
  }
  homes.frame_bytes = (crossing_words * 4 + 63) / 64 * 64;
  assign_slots(analysis, spilled, vector_bytes, homes);
  assign_slots(analysis, words, sizeof(std::uint32_t), homes);
  return homes;
}

}  // namespace vyre::run::cpu::native
