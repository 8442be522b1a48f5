// Watches a dispatch and collects the findings of checked execution. It is an observer of the interpreter, so that a run without checks
// pays nothing for it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "vyre/run/checks/checked.hpp"
#include "vyre/run/reference/doubts.hpp"
#include "vyre/run/reference/group.hpp"
#include "vyre/run/reference/shadow.hpp"

namespace vyre::run::reference {

class Checker {
 public:
  // `job` must outlive the checker; it has fewer than 2^32 workgroups. Both lists are indexed by BufferId: `blank` marks the buffers whose
  // elements are not written yet, and `written` has the spans of CheckOptions::written.
  Checker(const Job& job, const CheckOptions& options, const std::vector<bool>& blank,
          const std::vector<std::span<std::uint8_t>>& written = {});

  void start(std::size_t number, const Group& group);
  void pass_barrier(std::size_t number) { ++running_[number].phase; }
  void enter(std::size_t number, std::uint32_t invocation) {
    Running& running = running_[number];
    tables_ = running.tables.data();
    for (Marks& each : running.own) running.tables[each.buffer].written = each.written.data() + each.bytes * invocation;
    now_ = {running.workgroup, running.phase, static_cast<std::uint16_t>(invocation)};
    doubts_ = &running.doubts[invocation];
  }
  void diverged(const Group& group);

  void follow(const Instruction& i, const std::uint32_t* slots) {
    if (!doubts_->empty()) settle(i, slots);
  }
  void load(const Instruction& i, std::size_t index) {
    const Table& table = tables_[i.b];
    if (table.shadows == nullptr && table.written == nullptr) return;
    const bool narrow = i.code == Opcode::LoadNarrow;
    const std::uint32_t raw = narrow ? table.memory->read_narrow(index, i.lanes, i.extend()) : table.memory->read(index * i.lanes);
    const std::uint32_t value = i.code == Opcode::LoadBool ? raw != 0 : raw;
    if (table.written != nullptr && !wrote(table, index)) unwritten(i, index, value);
    if (table.shadows == nullptr) return;
    Shadow& shadow = shadow_of(table, index);
    if (table.blank && !shadow.written) unwritten(i, index, value);
    if (options_.races) touch<AccessKind::Read>(shadow, i, index, value);
  }
  void store(const Instruction& i, std::size_t index, const std::uint32_t* slots) {
    const Table& table = tables_[i.b];
    if (table.written != nullptr) write(table, index);
    if (table.shadows == nullptr) return;
    Shadow& shadow = shadow_of(table, index);
    shadow.written = true;
    if (options_.races) touch<AccessKind::Write>(shadow, i, index, stored(i, slots));
  }
  void atomic(const Instruction& i, std::size_t index, std::uint32_t /*old*/, std::uint32_t value) {
    const Table& table = tables_[i.b];
    if (table.written != nullptr) {
      if (!wrote(table, index)) unwritten(i, index, value);
      write(table, index);
    }
    Shadow& shadow = shadow_of(table, index);
    shadow.written = true;
    if (options_.races) touch<AccessKind::Atomic>(shadow, i, index, value);
  }
  void outside(const Instruction& i, std::size_t index, const std::uint32_t* slots);

  bool found_race() const { return !races_.by_key.empty(); }
  bool found_divergence() const { return !barriers_.empty(); }
  // Returns the findings by kind, then in program order, and at most as many as the options ask for. Without `with_races` races are left
  // out: they were watched only because other checks need them.
  Findings findings(bool with_races) const;
  // Whether an access to this element of storage raced. For tests.
  bool raced(BufferId buffer, std::size_t index) const { return storage_[buffer.index].data()[index].raced; }

 private:
  // The shadow memory for a workgroup's accesses to one buffer.
  struct Table {
    Shadow* shadows = nullptr;  // null for memory that is only read, or private
    const Memory* memory = nullptr;
    ir::BufferAccess access{};
    bool blank = false;               // reads of elements that the program has not written are findings
    std::uint8_t* written = nullptr;  // a mark for each byte; null if no marks are kept
    std::uint32_t bytes = 0;          // of an element
  };
  // Which bytes of a Private buffer are written: `bytes` marks for each invocation.
  struct Marks {
    std::size_t buffer = 0, bytes = 0;
    std::vector<std::uint8_t> written;
  };
  // A workgroup that is running.
  struct Running {
    std::uint32_t workgroup = 0, phase = 0;
    std::vector<Shadows> shared;
    std::vector<Marks> own;
    std::vector<Doubts> doubts;  // by invocation
    std::vector<Table> tables;   // by BufferId
  };

  // The value that the element has after a store.
  static std::uint32_t stored(const Instruction& i, const std::uint32_t* slots) {
    return i.code == Opcode::StoreNarrow ? narrowed(slots[i.c], i.lanes, i.extend()) : slots[i.c];
  }

  static bool wrote(const Table& table, std::size_t index) {
    const std::uint8_t* const begin = table.written + index * table.bytes;
    return std::all_of(begin, begin + table.bytes, [](std::uint8_t byte) { return byte != 0; });
  }
  static void write(const Table& table, std::size_t index) { std::fill_n(table.written + index * table.bytes, table.bytes, 1); }

  Shadow& shadow_of(const Table& table, std::size_t index) const {
    Shadow& shadow = table.shadows[index];
    if (table.access == ir::BufferAccess::Workgroup) shadow.forget_others(now_.workgroup);
    return shadow;
  }

  template <AccessKind kKind>
  void touch(Shadow& shadow, const Instruction& i, std::size_t index, std::uint32_t value) {
    const Address at = site(i);
    const std::uint8_t slot = shadow.touch<kKind>(now_, at, value);
    if (slot == Shadow::kNoSlot) return;
    race(shadow, slot, i, index, value);
    shadow.begin_anew<kKind>(now_, at, value);
  }

  Address site(const Instruction& i) const { return static_cast<Address>(&i - job_.code.instructions.data()); }
  NodeId statement(Address site) const { return job_.code.statements[site]; }
  // The first of the statements that stand in the source line of this one: a line that is unrolled has one finding.
  std::uint32_t line(Address site) const { return lines_[statement(site).index]; }
  Triple workgroup_id(std::uint32_t workgroup) const;
  Witness witness(std::uint32_t workgroup, std::uint32_t invocation, Address site, std::uint32_t value) const;
  void race(const Shadow& shadow, std::uint8_t slot, const Instruction& i, std::size_t index, std::uint32_t value);
  void unwritten(const Instruction& i, std::size_t index, std::uint32_t value);
  void settle(const Instruction& i, const std::uint32_t* slots);
  // Counts a read of what nothing has written, or of no element. They are findings once the value is used.
  void count_unwritten(const Instruction& i, std::size_t index, std::uint32_t value);
  OutOfBounds* count_outside(const Instruction& i, std::size_t index);

  // Orders the occurrences of a finding. The one with the lowest rank is shown, so that the report depends on the order of invocations as
  // little as possible.
  using Rank = std::pair<std::uint64_t, std::uint64_t>;
  template <class Kind>
  struct Entry {
    Kind finding;
    Rank shown{~std::uint64_t{0}, ~std::uint64_t{0}};
  };
  using Key = std::array<std::uint32_t, 3>;  // line, other line, buffer
  template <class Kind>
  struct Entries {
    std::map<Key, Entry<Kind>> by_key;
    bool complete = true;
  };
  // The entry of the key; null when there is no room for another one.
  template <class Kind>
  Entry<Kind>* entry(Entries<Kind>& entries, const Key& key);
  // Counts a finding of one access by the current invocation. Returns it if it is now the one to show, else null.
  template <class Kind>
  Kind* shown_here(Entries<Kind>& entries, Entry<Kind>*& of_site, const Instruction& i, std::size_t index, std::uint32_t value);
  // The rank of an occurrence in the current invocation.
  Rank current_rank() const { return {now_.workgroup, now_.invocation}; }

  const Job& job_;
  CheckOptions options_;
  std::vector<std::uint32_t> lines_;  // by NodeId
  std::vector<bool> blank_;
  std::vector<std::span<std::uint8_t>> written_;
  std::vector<Shadows> storage_;  // by BufferId
  std::vector<Running> running_;  // by the number under which a workgroup runs
  const Table* tables_ = nullptr;
  Doubts* doubts_ = nullptr;
  Now now_;

  Entries<Race> races_;
  Entries<UninitialisedRead> uninitialised_;
  Entries<OutOfBounds> bounds_;
  Entries<PromisedZero> zeros_;
  std::map<std::vector<std::uint32_t>, Entry<DivergentBarrier>> barriers_;
  std::vector<Entry<UninitialisedRead>*> uninitialised_at_;  // by address: the entry of its statement
  std::vector<Entry<OutOfBounds>*> bounds_at_;
  std::vector<Entry<PromisedZero>*> zeros_at_;
  std::pair<Address, Address> last_race_{};
  Entry<Race>* last_race_entry_ = nullptr;
  bool barriers_complete_ = true;
};

}  // namespace vyre::run::reference
