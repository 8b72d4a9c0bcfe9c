// A fibre is one GPU thread of a threadgroup: a stack and the place where it stopped. The switch saves the callee-saved
// registers on the old stack and takes the new one: 3 to 9 ns, where a system thread would cost microseconds.
#pragma once

#include <stdint.h>  // nothing else: test/metal/standin/fibre.cc runs it without a C library

extern "C" void mtl_switch(void** save_stack, void* load_stack);

namespace standin {

#if defined(__x86_64__)
asm(R"(.text
.weak mtl_switch
.hidden mtl_switch
.type mtl_switch,@function
mtl_switch:
  pushq %rbp; pushq %rbx; pushq %r12; pushq %r13; pushq %r14; pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15; popq %r14; popq %r13; popq %r12; popq %rbx; popq %rbp
  ret
.size mtl_switch,.-mtl_switch)");

// A stack whose first switch enters `entry`, which never returns.
inline void* fresh_stack(char* top, void (*entry)()) {
  void** slot = reinterpret_cast<void**>(reinterpret_cast<uintptr_t>(top) & ~uintptr_t{15});
  *--slot = nullptr;  // the return address of `entry`: keeps the stack aligned as after a call
  *--slot = reinterpret_cast<void*>(entry);
  for (int i = 0; i < 6; i++) *--slot = nullptr;
  return slot;
}
#elif defined(__aarch64__)
asm(R"(.text
.weak mtl_switch
.hidden mtl_switch
.type mtl_switch,@function
mtl_switch:
  sub sp, sp, #160
  stp x19, x20, [sp]; stp x21, x22, [sp, #16]; stp x23, x24, [sp, #32]; stp x25, x26, [sp, #48]
  stp x27, x28, [sp, #64]; stp x29, x30, [sp, #80]; stp d8, d9, [sp, #96]; stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]; stp d14, d15, [sp, #144]
  mov x9, sp; str x9, [x0]; mov sp, x1
  ldp x19, x20, [sp]; ldp x21, x22, [sp, #16]; ldp x23, x24, [sp, #32]; ldp x25, x26, [sp, #48]
  ldp x27, x28, [sp, #64]; ldp x29, x30, [sp, #80]; ldp d8, d9, [sp, #96]; ldp d10, d11, [sp, #112]
  ldp d12, d13, [sp, #128]; ldp d14, d15, [sp, #144]
  add sp, sp, #160
  ret
.size mtl_switch,.-mtl_switch)");

inline void* fresh_stack(char* top, void (*entry)()) {
  char* frame = reinterpret_cast<char*>(reinterpret_cast<uintptr_t>(top) & ~uintptr_t{15}) - 160;
  for (int i = 0; i < 20; i++) reinterpret_cast<void* volatile*>(frame)[i] = nullptr;
  reinterpret_cast<void**>(frame)[11] = reinterpret_cast<void*>(entry);  // x30, the link register
  return frame;
}
#else
#error "the fibre switch is written for x86-64 and aarch64"
#endif

}  // namespace standin
