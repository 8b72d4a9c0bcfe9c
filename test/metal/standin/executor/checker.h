// Check mode. Kernels are compiled with -fsanitize=thread, whose hooks land here instead of in a sanitizer's run time.
// Found: out-of-bounds accesses, races inside a threadgroup (a missing barrier), races between threadgroups, races
// between dispatches (a missing memory barrier), reads of threadgroup memory nobody wrote, plain and atomic accesses
// mixed.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "executor/banks.h"

namespace standin {

struct Dispatch;

// Which bytes of device memory a set of dispatches read and wrote, exact to the byte.
class AccessSet {
 public:
  static constexpr uint8_t kRead = 1, kWritten = 2;
  void add(uintptr_t address, unsigned bytes, bool write);
  void merge(const AccessSet& other);
  void clear() { pages_.clear(), last_ = nullptr; }
  // The first address that both touch and at least one writes; 0 when there is none.
  uintptr_t conflict(const AccessSet& other) const;
  // Bytes of [low, high) with `flag`.
  uint64_t count(uintptr_t low, uintptr_t high, uint8_t flag) const;

 private:
  using Page = std::array<uint8_t, 4096>;
  Page& page(uintptr_t number);
  std::unordered_map<uintptr_t, std::unique_ptr<Page>> pages_;
  uintptr_t last_number_ = 0;
  Page* last_ = nullptr;
};

class Checker {
 public:
  bool on = false, counts_banks = false;
  AccessSet accesses;  // of the running dispatch
  BankCounter banks;   // likewise

  void begin(const Dispatch& dispatch);
  void group_start(char* threadgroup_memory, size_t bytes);
  void threadgroup_region(void* start, size_t bytes);
  void threadgroup_barrier(int flags);
  void simdgroup_barrier(int simdgroup, int flags);
  void access(int lane, uintptr_t address, unsigned bytes, bool write, bool atomic, void* pc);
  void matrix(int lane, uintptr_t first, uint64_t stride, unsigned element);

 private:
  // Per byte: who wrote and who read it last, and how many barriers that thread had passed then.
  struct Cell {
    uint32_t epoch = 0, write_group = 0, read_group = 0, write_tick = 0, read_tick = 0, write_simd = 0, read_simd = 0;
    int16_t write_lane = -1, read_lane = -1;
    bool atomic = false;
  };
  using Page = std::array<Cell, 4096>;
  struct Region {
    uintptr_t low, high;
    bool writable;
    const char* name;
  };
  Cell& cell(uintptr_t address);
  const Region* find(int lane, uintptr_t address, unsigned bytes, bool write, void* pc) const;
  void check_byte(Cell& cell, const Region& region, int lane, uintptr_t at, bool write, bool atomic, void* pc) const;

  std::vector<Region> device_;
  uintptr_t image_low_ = 0, image_high_ = 0;  // the kernel's shared object: tables and function constants
  Region threadgroup_{};
  std::vector<std::pair<uintptr_t, uintptr_t>> threadgroup_parts_;
  std::unordered_map<uintptr_t, std::unique_ptr<Page>> pages_;
  uintptr_t last_number_ = 0;
  Page* last_ = nullptr;
  uint32_t epoch_ = 0, epoch_of_dispatch_ = 0, threadgroup_epoch_ = 0, group_ = 0;
  uint32_t tick_[2] = {};           // barriers passed: [device, threadgroup memory]
  uint32_t simd_tick_[2][32] = {};  // the same within a simdgroup
};

// The checker of the calling thread's running kernel, or null.
Checker* current_checker(int* lane);
bool in_kernel();
// Stops the kernel; the dispatch returns the message.
[[noreturn]] void kernel_fault(const std::string& what);

}  // namespace standin
