// The switch between fibres (standin/executor/fibre.h) on its own, without a C library, so that any machine can run it for
// any processor it is written for: what a fibre keeps in registers must be there when it comes back. Ends with code 0.
#include "executor/fibre.h"

namespace {

void* here = nullptr;   // the stack that switched to the fibre
void* there = nullptr;  // the fibre's
bool switching = false;

// Sums that stay in registers over every switch: more of them than a processor saves.
struct Result {
  int64_t whole;
  double real;
};
__attribute__((noinline)) Result work(int64_t seed, void** leave, void** enter) {
  int64_t a = seed, b = seed + 1, c = seed + 2, d = seed + 3, e = seed + 4, f = seed + 5, g = seed + 6, h = seed + 7;
  double p = 0.5, q = 1.5, r = 2.5, s = 3.5, t = 4.5, u = 5.5, v = 6.5, w = 7.5;
  for (int i = 0; i < 1000; i++) {
    if (switching) mtl_switch(leave, *enter);
    a += b, b ^= c, c += d, d ^= e, e += f, f ^= g, g += h, h ^= a;
    p += q * 0.5, q -= r * 0.25, r += s * 0.125, s -= t * 0.5, t += u * 0.25, u -= v * 0.125, v += w * 0.5, w -= p * 0.25;
  }
  return {a ^ b ^ c ^ d ^ e ^ f ^ g ^ h, p + q + r + s + t + u + v + w};
}

Result inside{};
bool aligned = false;

void entry() {
  alignas(16) volatile char place[16] = {};
  aligned = reinterpret_cast<uintptr_t>(&place) % 16 == 0;
  inside = work(7, &there, &here);
  for (;;) mtl_switch(&there, here);
}

bool same(Result x, Result y) { return x.whole == y.whole && x.real == y.real; }

alignas(16) char stack[65536];

int run() {
  const Result first = work(7, nullptr, nullptr), second = work(1000, nullptr, nullptr);
  switching = true;
  there = standin::fresh_stack(stack + sizeof stack, entry);
  const Result outside = work(1000, &here, &there);
  mtl_switch(&here, there);  // the fibre's last round
  if (!aligned) return 1;
  if (!same(outside, second)) return 2;
  return same(inside, first) ? 0 : 3;
}

}  // namespace

#if defined(__x86_64__)
extern "C" __attribute__((force_align_arg_pointer)) void _start() {
  asm volatile("syscall" : : "a"(60l), "D"(static_cast<long>(run())));
  __builtin_unreachable();
}
#else
extern "C" void _start() {
  register long code asm("x0") = run();
  register long call asm("x8") = 93;
  asm volatile("svc 0" : : "r"(code), "r"(call));
  __builtin_unreachable();
}
#endif
