#include "executor/checker.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <tuple>

#include "executor/executor.h"

namespace standin {

AccessSet::Page& AccessSet::page(uintptr_t number) {
  if (last_ && last_number_ == number) return *last_;
  auto& slot = pages_[number];
  if (!slot) slot = std::make_unique<Page>(Page{});
  last_number_ = number;
  last_ = slot.get();
  return *last_;
}

void AccessSet::add(uintptr_t address, unsigned bytes, bool write) {
  for (uintptr_t a = address; a < address + bytes; a++) page(a >> 12)[a & 4095] |= write ? kWritten : kRead;
}

void AccessSet::merge(const AccessSet& other) {
  for (const auto& [number, from] : other.pages_) {
    Page& to = page(number);
    for (size_t i = 0; i < to.size(); i++) to[i] |= (*from)[i];
  }
}

uintptr_t AccessSet::conflict(const AccessSet& other) const {
  for (const auto& [number, theirs] : other.pages_) {
    const auto mine = pages_.find(number);
    if (mine == pages_.end()) continue;
    for (size_t i = 0; i < theirs->size(); i++) {
      const uint8_t a = (*mine->second)[i], b = (*theirs)[i];
      if (a && b && ((a | b) & kWritten)) return (number << 12) + i;
    }
  }
  return 0;
}

uint64_t AccessSet::count(uintptr_t low, uintptr_t high, uint8_t flag) const {
  uint64_t bytes = 0;
  for (const auto& [number, page] : pages_) {
    if ((number << 12) + 4096 <= low || (number << 12) >= high) continue;
    for (size_t i = 0; i < page->size(); i++) {
      const uintptr_t a = (number << 12) + i;
      bytes += a >= low && a < high && ((*page)[i] & flag);
    }
  }
  return bytes;
}

namespace {

std::string where(void* pc) {
  Dl_info info;
  char text[256] = "";
  if (dladdr(pc, &info) && info.dli_fbase)
    snprintf(
        text, sizeof text, " (pc %s+0x%lx)", info.dli_sname ? info.dli_sname : "?",
        static_cast<unsigned long>(reinterpret_cast<uintptr_t>(pc) - 1 - reinterpret_cast<uintptr_t>(info.dli_fbase)));
  return text;
}

}  // namespace

// The addresses of the shared object that holds `code`.
static std::pair<uintptr_t, uintptr_t> image_of(const void* code) {
  struct Search {
    uintptr_t code, low, high;
  } search{reinterpret_cast<uintptr_t>(code), 0, 0};
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* data) {
        auto* wanted = static_cast<Search*>(data);
        uintptr_t low = UINTPTR_MAX, high = 0;
        for (int i = 0; i < info->dlpi_phnum; i++) {
          if (info->dlpi_phdr[i].p_type != PT_LOAD) continue;
          low = std::min<uintptr_t>(low, info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
          high = std::max<uintptr_t>(high, info->dlpi_addr + info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_memsz);
        }
        if (wanted->code < low || wanted->code >= high) return 0;
        wanted->low = low;
        wanted->high = high;
        return 1;
      },
      &search);
  return {search.low, search.high};
}

void Checker::begin(const Dispatch& dispatch) {
  std::tie(image_low_, image_high_) = image_of(reinterpret_cast<const void*>(dispatch.kernel->entry));
  device_.clear();
  accesses.clear();
  banks.reset();
  counts_banks = options().banks;
  group_ = 0;
  epoch_of_dispatch_ = ++epoch_;
  for (unsigned i = 0; i < dispatch.kernel->nargs; i++) {
    const mtl_arg_desc& arg = dispatch.kernel->args[i];
    if (arg.kind != MTL_ARG_BUFFER || !dispatch.buffer[arg.index]) continue;
    const uintptr_t low = reinterpret_cast<uintptr_t>(dispatch.buffer[arg.index]);
    const size_t bytes = dispatch.buffer_bytes[arg.index] ? dispatch.buffer_bytes[arg.index] : arg.size;
    device_.push_back({low, low + bytes, !arg.is_const, arg.name});
  }
}

void Checker::group_start(char* memory, size_t bytes) {
  banks.settle();
  group_++;
  threadgroup_epoch_ = ++epoch_;
  memset(tick_, 0, sizeof tick_);
  memset(simd_tick_, 0, sizeof simd_tick_);
  threadgroup_ = {reinterpret_cast<uintptr_t>(memory), reinterpret_cast<uintptr_t>(memory) + bytes, true,
                  "threadgroup memory"};
  threadgroup_parts_.clear();
}

void Checker::threadgroup_region(void* start, size_t bytes) {
  threadgroup_parts_.push_back({reinterpret_cast<uintptr_t>(start), reinterpret_cast<uintptr_t>(start) + bytes});
}
// mem_device = 1 and mem_threadgroup = 2: a barrier orders only the memory it names.
void Checker::threadgroup_barrier(int flags) {
  for (int kind = 0; kind < 2; kind++) tick_[kind] += (flags >> kind) & 1;
  banks.settle();
}
void Checker::simdgroup_barrier(int simdgroup, int flags) {
  for (int kind = 0; kind < 2; kind++) simd_tick_[kind][simdgroup] += (flags >> kind) & 1;
}

Checker::Cell& Checker::cell(uintptr_t address) {
  const uintptr_t number = address >> 12;
  if (!last_ || last_number_ != number) {
    auto& slot = pages_[number];
    if (!slot) slot = std::make_unique<Page>();
    last_number_ = number;
    last_ = slot.get();
  }
  return (*last_)[address & 4095];
}

// The region an access falls into; null for the stack and constant tables. A byte may lie in several bound buffers
// (views on one allocation): any that holds the whole access will do.
const Checker::Region* Checker::find(int, uintptr_t a, unsigned bytes, bool write, void* pc) const {
  if (a >= threadgroup_.low && a < threadgroup_.high) {
    for (const auto& [low, high] : threadgroup_parts_)
      if (a >= low && a + bytes <= high) return &threadgroup_;
    kernel_fault("out-of-bounds access to threadgroup memory" + where(pc));
  }
  const Region* holds = nullptr;
  const Region* cut = nullptr;
  for (const Region& region : device_) {
    if (a < region.low || a >= region.high) continue;
    if (a + bytes > region.high) cut = &region;
    else if (!holds || region.writable) holds = &region;
  }
  if (holds && write && !holds->writable) kernel_fault(std::string("write to read-only '") + holds->name + "'");
  if (holds) return holds;
  if (cut) kernel_fault(std::string("access past the end of '") + cut->name + "'" + where(pc));
  // Close to a buffer: an index out of bounds. Blame the nearest one.
  const auto distance = [&](const Region& region) { return a >= region.high ? a - region.high : region.low - a; };
  const Region* nearest = nullptr;
  for (const Region& region : device_)
    if (distance(region) < 4096 && (!nearest || distance(region) < distance(*nearest))) nearest = &region;
  if (nearest)
    kernel_fault(std::string(write ? "write" : "read") + " out of bounds of '" + nearest->name + "': offset " +
                 std::to_string(static_cast<long>(a - nearest->low)) + " of " +
                 std::to_string(nearest->high - nearest->low) + where(pc));
  return nullptr;
}

void Checker::check_byte(Cell& c, const Region& region, int lane, uintptr_t at, bool write, bool atomic,
                         void* pc) const {
  const bool shared = &region == &threadgroup_;
  const int simdgroup = lane >> 5;
  const uint32_t now = tick_[shared], simd_now = simd_tick_[shared][simdgroup];
  const auto ordered = [&](uint32_t group, int16_t other, uint32_t tick, uint32_t simd_tick) {
    if (other < 0) return true;
    if (group != group_) return false;
    return other == lane || tick < now || ((other >> 5) == simdgroup && simd_tick < simd_now);
  };
  const auto race = [&](const char* kind, int16_t other, uint32_t group) {
    kernel_fault(std::string(kind) + " race on '" + region.name + "' byte " + std::to_string(at - region.low) +
                 " with thread " + std::to_string(other) + (group == group_ ? "" : " of another threadgroup") +
                 where(pc));
  };
  const bool both_atomic = atomic && c.atomic;
  if (shared && !write && c.write_lane < 0) kernel_fault("read of threadgroup memory never written" + where(pc));
  if (!both_atomic && !ordered(c.write_group, c.write_lane, c.write_tick, c.write_simd))
    race(write ? "write/write" : "write/read", c.write_lane, c.write_group);
  if (write && !both_atomic && !ordered(c.read_group, c.read_lane, c.read_tick, c.read_simd))
    race("read/write", c.read_lane, c.read_group);
  if (write) {
    c.write_group = group_, c.write_lane = static_cast<int16_t>(lane), c.write_tick = now;
    c.write_simd = simd_now, c.atomic = atomic;
    return;
  }
  const bool other_reader = c.read_lane >= 0 && c.read_group == group_ && c.read_tick == now && c.read_lane != lane;
  if (!other_reader)
    c.read_group = group_, c.read_lane = static_cast<int16_t>(lane), c.read_tick = now, c.read_simd = simd_now;
  else if ((c.read_lane >> 5) == simdgroup)
    c.read_lane = static_cast<int16_t>(lane);  // keep a reader of another simdgroup
}

void Checker::access(int lane, uintptr_t a, unsigned bytes, bool write, bool atomic, void* pc) {
  if (a >= image_low_ && a < image_high_) return;
  const Region* region = find(lane, a, bytes, write, pc);
  if (!region) return;
  const bool shared = region == &threadgroup_;
  if (shared && counts_banks) banks.access(lane, a, bytes, pc);
  if (!shared) accesses.add(a, bytes, write);
  if (!shared && !region->writable) return;  // nobody writes it in this dispatch
  const uint32_t epoch = shared ? threadgroup_epoch_ : epoch_of_dispatch_;
  for (unsigned i = 0; i < bytes; i++) {
    Cell& c = cell(a + i);
    if (c.epoch != epoch) c = Cell{}, c.epoch = epoch;
    check_byte(c, *region, lane, a + i, write, atomic, pc);
  }
}

void Checker::matrix(int lane, uintptr_t first, uint64_t stride, unsigned element) {
  const bool shared = first >= threadgroup_.low && first < threadgroup_.high;
  if (counts_banks && (shared || first == 0)) banks.matrix(lane, first, stride, element);
}

}  // namespace standin

// ---- the hooks ----------------------------------------------------------------------------------------------------

using standin::current_checker;
#define VISIBLE __attribute__((visibility("default")))
static void touch(const volatile void* a, size_t bytes, bool write, bool atomic, void* pc) {
  int lane;
  if (standin::Checker* checker = current_checker(&lane))
    checker->access(lane, reinterpret_cast<uintptr_t>(a), static_cast<unsigned>(bytes), write, atomic, pc);
}
#define PC __builtin_return_address(0)

extern "C" {
VISIBLE void mtl_matrix_access(const void* first, unsigned long stride, unsigned element) {
  int lane;
  if (standin::Checker* checker = current_checker(&lane))
    checker->matrix(lane, reinterpret_cast<uintptr_t>(first), stride, element);
}
#define PLAIN(n)                                                                    \
  VISIBLE void __tsan_read##n(void* a) { touch(a, n, false, false, PC); }           \
  VISIBLE void __tsan_write##n(void* a) { touch(a, n, true, false, PC); }           \
  VISIBLE void __tsan_unaligned_read##n(void* a) { touch(a, n, false, false, PC); } \
  VISIBLE void __tsan_unaligned_write##n(void* a) { touch(a, n, true, false, PC); } \
  VISIBLE void __tsan_read_write##n(void* a) { touch(a, n, true, false, PC); }      \
  VISIBLE void __tsan_unaligned_read_write##n(void* a) { touch(a, n, true, false, PC); }
PLAIN(1)
PLAIN(2)
PLAIN(4)
PLAIN(8)
PLAIN(16)

VISIBLE void __tsan_init() {}
VISIBLE void __tsan_func_entry(void*) {}
VISIBLE void __tsan_func_exit() {}
VISIBLE void __tsan_vptr_update(void**, void*) {}
VISIBLE void* __tsan_memcpy(void* to, const void* from, size_t n) {
  touch(from, n, false, false, PC);
  touch(to, n, true, false, PC);
  return memcpy(to, from, n);
}
VISIBLE void* __tsan_memmove(void* to, const void* from, size_t n) {
  touch(from, n, false, false, PC);
  touch(to, n, true, false, PC);
  return memmove(to, from, n);
}
VISIBLE void* __tsan_memset(void* to, int value, size_t n) {
  touch(to, n, true, false, PC);
  return memset(to, value, n);
}

#define ATOMIC(op, bits, T, builtin)                              \
  VISIBLE T __tsan_atomic##bits##_##op(volatile T* a, T v, int) { \
    touch(a, bits / 8, true, true, PC);                           \
    return builtin(a, v, __ATOMIC_SEQ_CST);                       \
  }
#define ATOMICS(bits, T)                                                                                   \
  ATOMIC(fetch_add, bits, T, __atomic_fetch_add)                                                           \
  ATOMIC(fetch_sub, bits, T, __atomic_fetch_sub)                                                           \
  ATOMIC(fetch_and, bits, T, __atomic_fetch_and)                                                           \
  ATOMIC(fetch_or, bits, T, __atomic_fetch_or)                                                             \
  ATOMIC(fetch_xor, bits, T, __atomic_fetch_xor)                                                           \
  ATOMIC(exchange, bits, T, __atomic_exchange_n)                                                           \
  VISIBLE T __tsan_atomic##bits##_load(const volatile T* a, int) {                                         \
    touch(a, bits / 8, false, true, PC);                                                                   \
    return __atomic_load_n(a, __ATOMIC_SEQ_CST);                                                           \
  }                                                                                                        \
  VISIBLE void __tsan_atomic##bits##_store(volatile T* a, T v, int) {                                      \
    touch(a, bits / 8, true, true, PC);                                                                    \
    __atomic_store_n(a, v, __ATOMIC_SEQ_CST);                                                              \
  }                                                                                                        \
  VISIBLE int __tsan_atomic##bits##_compare_exchange_strong(volatile T* a, T* expected, T v, int, int) {   \
    touch(a, bits / 8, true, true, PC);                                                                    \
    return __atomic_compare_exchange_n(a, expected, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);         \
  }                                                                                                        \
  VISIBLE int __tsan_atomic##bits##_compare_exchange_weak(volatile T* a, T* expected, T v, int x, int y) { \
    return __tsan_atomic##bits##_compare_exchange_strong(a, expected, v, x, y);                            \
  }                                                                                                        \
  VISIBLE T __tsan_atomic##bits##_compare_exchange_val(volatile T* a, T expected, T v, int x, int y) {     \
    __tsan_atomic##bits##_compare_exchange_strong(a, &expected, v, x, y);                                  \
    return expected;                                                                                       \
  }
ATOMICS(32, unsigned)
ATOMICS(64, unsigned long)

// Handlers of -fsanitize=alignment,bounds,shift,...: undefined behaviour in a kernel is a fault with file and line.
struct SourceLocation {
  const char* file;
  unsigned line, column;
};
static void undefined(const char* what, const SourceLocation* at) {
  const std::string text = std::string(what) + " at " + (at->file ? at->file : "?") + ":" + std::to_string(at->line);
  if (standin::in_kernel()) standin::kernel_fault(text);
  fprintf(stderr, "%s\n", text.c_str());
  abort();
}
VISIBLE void __ubsan_handle_type_mismatch_v1(SourceLocation* at, void*) { undefined("misaligned access", at); }
VISIBLE void __ubsan_handle_out_of_bounds(SourceLocation* at, void*) { undefined("array index out of bounds", at); }
VISIBLE void __ubsan_handle_shift_out_of_bounds(SourceLocation* at, void*, void*) {
  undefined("shift out of bounds", at);
}
VISIBLE void __ubsan_handle_divrem_overflow(SourceLocation* at, void*, void*) { undefined("division by zero", at); }
VISIBLE void __ubsan_handle_builtin_unreachable(SourceLocation* at) { undefined("unreachable code", at); }
VISIBLE void __ubsan_handle_missing_return(SourceLocation* at) { undefined("missing return", at); }
}
