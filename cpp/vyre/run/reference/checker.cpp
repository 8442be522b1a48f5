// Each access of the dispatch updates the shadow memory of its element, which detects races and reads of unwritten memory. Occurrences that
// concern the same statements are one finding, which counts them and shows the one with the lowest rank.
#include "vyre/run/reference/checker.hpp"

namespace vyre::run::reference {

Checker::Checker(const Job& job, const CheckOptions& options, const std::vector<bool>& blank,
                 const std::vector<std::span<std::uint8_t>>& written)
    : job_(job),
      options_(options),
      blank_(blank),
      written_(written),
      uninitialised_at_(job.code.instructions.size()),
      bounds_at_(job.code.instructions.size()),
      zeros_at_(job.code.instructions.size()) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> first;  // by file and line
  for (std::uint32_t index = 0; index < job.program.nodes().size(); ++index) {
    const ir::SourcePlace place = job.program.place(NodeId{index});
    lines_.push_back(place.known() ? first.try_emplace({place.file, place.line}, index).first->second : index);
  }
  for (std::size_t index = 0; index < job.memory.size(); ++index) {
    const ir::BufferDecl& buffer = job.program.buffers()[index];
    const bool storage = buffer.access == ir::BufferAccess::ReadWrite && buffer.element != ir::DataType::Bytes;
    storage_.push_back(storage ? Shadows(job.memory[index].length) : Shadows());
  }
}

void Checker::start(std::size_t number, const Group& group) {
  if (number == running_.size()) {
    Running& running = running_.emplace_back();
    running.doubts.resize(job_.invocations());
    for (std::size_t index = 0; index < job_.memory.size(); ++index) {
      const ir::BufferDecl& buffer = job_.program.buffers()[index];
      const bool shared = buffer.access == ir::BufferAccess::Workgroup;
      // A buffer without memory is never looked up.
      if (shared) running.shared.emplace_back(group.memory(index).bytes != nullptr ? job_.memory[index].length : 0);
      if (buffer.access == ir::BufferAccess::Private && options_.promised_zeros) {
        const std::size_t bytes = std::size_t{job_.memory[index].length} * ir::min_bytes(buffer.element);
        running.own.push_back({index, bytes, std::vector<std::uint8_t>(bytes * job_.invocations())});
      }
      const std::span<std::uint8_t> written = written_.empty() ? std::span<std::uint8_t>() : written_[index];
      running.tables.push_back({shared ? running.shared.back().data() : storage_[index].data(), &group.memory(index), buffer.access,
                                shared ? options_.promised_zeros : options_.uninitialised && blank_[index],
                                written.empty() ? nullptr : written.data(), ir::min_bytes(buffer.element)});
    }
  }
  for (Marks& each : running_[number].own) std::ranges::fill(each.written, 0);
  for (Doubts& each : running_[number].doubts) each.clear();
  const Triple& id = group.id();
  running_[number].workgroup = (id[2] * job_.grid.y + id[1]) * job_.grid.x + id[0];
  running_[number].phase = 0;
}

Triple Checker::workgroup_id(std::uint32_t workgroup) const {
  return {workgroup % job_.grid.x, workgroup / job_.grid.x % job_.grid.y, workgroup / job_.grid.x / job_.grid.y};
}

Witness Checker::witness(std::uint32_t workgroup, std::uint32_t invocation, Address site, std::uint32_t value) const {
  const Instruction& i = job_.code.instructions[site];
  Witness result;
  result.workgroup = workgroup_id(workgroup);
  result.local = local_id(invocation, job_.program.workgroup_size());
  result.statement = statement(site);
  result.value = value;
  result.op = i.op;
  switch (i.code) {
    case Opcode::Store:
    case Opcode::StoreLanes:
    case Opcode::StoreNarrow:
      result.access = AccessKind::Write;
      break;
    case Opcode::Atomic:
      result.access = AccessKind::Atomic;
      break;
    default:
      result.access = AccessKind::Read;
  }
  return result;
}

template <class Kind>
Checker::Entry<Kind>* Checker::entry(Entries<Kind>& entries, const Key& key) {
  if (entries.by_key.size() < options_.max_findings) return &entries.by_key[key];
  const auto found = entries.by_key.find(key);
  if (found != entries.by_key.end()) return &found->second;
  entries.complete = false;
  return nullptr;
}

void Checker::race(const Shadow& shadow, std::uint8_t slot, const Instruction& i, std::size_t index, std::uint32_t value) {
  const Address at = site(i), other = shadow.site_of(slot);
  if (last_race_entry_ == nullptr || last_race_ != std::pair(other, at)) {
    const std::uint32_t one = line(other), two = line(at);
    last_race_ = {other, at};
    last_race_entry_ = entry(races_, {std::min(one, two), std::max(one, two), i.b});
    if (last_race_entry_ == nullptr) return;
  }
  Entry<Race>& found = *last_race_entry_;
  ++found.finding.count;
  // The race at the element with the lowest index is shown. If that element has several races, the first one that was found is shown.
  const Rank rank{index, 0};
  if (rank >= found.shown) return;
  found.shown = rank;
  found.finding.buffer = BufferId{i.b};
  found.finding.index = static_cast<std::uint32_t>(index);
  found.finding.first = witness(shadow.workgroup_of(slot), shadow.invocation_of(slot), other, shadow.value_of(slot));
  found.finding.second = witness(now_.workgroup, now_.invocation, at, value);
}

template <class Kind>
Kind* Checker::shown_here(Entries<Kind>& entries, Entry<Kind>*& of_site, const Instruction& i, std::size_t index, std::uint32_t value) {
  const Address at = site(i);
  if (of_site == nullptr) of_site = entry(entries, {line(at), 0, i.b});
  if (of_site == nullptr) return nullptr;
  ++of_site->finding.count;
  if (current_rank() >= of_site->shown) return nullptr;
  of_site->shown = current_rank();
  of_site->finding.buffer = BufferId{i.b};
  of_site->finding.index = static_cast<std::uint32_t>(index);
  of_site->finding.witness = witness(now_.workgroup, now_.invocation, at, value);
  return &of_site->finding;
}

namespace {

bool is_load(const Instruction& i) {
  return i.code == Opcode::Load || i.code == Opcode::LoadLanes || i.code == Opcode::LoadBool || i.code == Opcode::LoadNarrow;
}

bool is_write(const Instruction& i) {
  return i.code == Opcode::Store || i.code == Opcode::StoreLanes || i.code == Opcode::StoreNarrow || i.code == Opcode::Atomic;
}

}  // namespace

void Checker::unwritten(const Instruction& i, std::size_t index, std::uint32_t value) {
  if (!is_load(i)) return count_unwritten(i, index, value);
  doubts_->begin(i, {site(i), static_cast<std::uint32_t>(index), value, false});
}

void Checker::count_unwritten(const Instruction& i, std::size_t index, std::uint32_t value) {
  const ir::BufferAccess access = tables_[i.b].access;
  if (access == ir::BufferAccess::Workgroup || access == ir::BufferAccess::Private) {
    shown_here(zeros_, zeros_at_[site(i)], i, index, value);
  } else if (options_.uninitialised) {
    shown_here(uninitialised_, uninitialised_at_[site(i)], i, index, value);
  }
}

OutOfBounds* Checker::count_outside(const Instruction& i, std::size_t index) {
  OutOfBounds* found = shown_here(bounds_, bounds_at_[site(i)], i, index, 0);
  if (found != nullptr) found->length = job_.memory[i.b].length;
  return found;
}

void Checker::outside(const Instruction& i, std::size_t index, const std::uint32_t* slots) {
  if (!options_.bounds) return;
  if (is_load(i)) return doubts_->begin(i, {site(i), static_cast<std::uint32_t>(index), 0, true});
  OutOfBounds* found = count_outside(i, index);
  if (found != nullptr) found->witness.value = i.code == Opcode::Atomic ? slots[i.c] : stored(i, slots);
}

void Checker::settle(const Instruction& i, const std::uint32_t* slots) {
  const bool acts = is_write(i) && slots[i.a] < job_.memory[i.b].length;
  for (const Doubt& doubt : doubts_->follow(i, slots, acts, !statement(site(i)).valid())) {
    const Instruction& load = job_.code.instructions[doubt.site];
    if (doubt.outside) {
      count_outside(load, doubt.index);
    } else {
      count_unwritten(load, doubt.index, doubt.value);
    }
  }
}

void Checker::diverged(const Group& group) {
  if (!options_.barriers) group.throw_diverged();
  // Addresses rise in program order, and the program's end has the highest one that an invocation stops at.
  std::map<Address, DivergentBarrier::Stop> stops;
  const std::vector<Address>& at = group.stops();
  for (std::uint32_t invocation = 0; invocation < at.size(); ++invocation) {
    auto [found, fresh] = stops.try_emplace(at[invocation]);
    DivergentBarrier::Stop& stop = found->second;
    ++stop.invocations;
    if (!fresh) continue;
    stop.statement = statement(at[invocation]);
    stop.waits = job_.code.instructions[at[invocation]].code == Opcode::Barrier;
    stop.first = local_id(invocation, job_.program.workgroup_size());
  }
  std::vector<std::uint32_t> key;
  key.reserve(stops.size());
  for (const auto& [address, stop] : stops) key.push_back(address);
  if (barriers_.size() >= options_.max_findings && !barriers_.contains(key)) {
    barriers_complete_ = false;
    return;
  }
  Entry<DivergentBarrier>& found = barriers_[key];
  ++found.finding.count;
  const Triple& id = group.id();
  const Rank rank{(id[2] * job_.grid.y + id[1]) * job_.grid.x + id[0], 0};
  if (rank >= found.shown) return;
  found.shown = rank;
  found.finding.workgroup = id;
  found.finding.stops.clear();
  for (const auto& [address, stop] : stops) found.finding.stops.push_back(stop);
}

Findings Checker::findings(bool with_races) const {
  Findings result;
  const auto add = [&](const auto& entries, bool complete) {
    result.complete &= complete;
    for (const auto& [key, entry] : entries) {
      if (result.list.size() < options_.max_findings) {
        result.list.emplace_back(entry.finding);
      } else {
        result.complete = false;
      }
    }
  };
  if (with_races) add(races_.by_key, races_.complete);
  add(uninitialised_.by_key, uninitialised_.complete);
  add(bounds_.by_key, bounds_.complete);
  add(barriers_, barriers_complete_);
  add(zeros_.by_key, zeros_.complete);
  return result;
}

}  // namespace vyre::run::reference
