// Contract between the compiled kernels (.so), the executor and the emulated Metal device.
#pragma once
extern "C" {
struct mtl_u3 {
  unsigned x, y, z;
};
struct mtl_lane {  // everything a kernel thread can ask for
  mtl_u3 thread_position_in_grid, threadgroup_position_in_grid, thread_position_in_threadgroup;
  mtl_u3 threads_per_threadgroup, threadgroups_per_grid, threads_per_grid, dispatch_threads_per_threadgroup;
  unsigned thread_index_in_threadgroup, thread_index_in_simdgroup, simdgroup_index_in_threadgroup,
      simdgroups_per_threadgroup, threads_per_simdgroup, quadgroup_index_in_threadgroup, thread_index_in_quadgroup;
};
struct mtl_args {
  void* const* buf;
  void* const* tg;
};
#ifndef __OPENCL_CPP_VERSION__
typedef void (*mtl_entry)(const mtl_args*, const mtl_lane*);
enum mtl_arg_kind { MTL_ARG_BUFFER = 0, MTL_ARG_THREADGROUP = 1 };
struct mtl_arg_desc {
  const char* name;
  const char* type;
  unsigned kind, index, is_ref, is_const;
  unsigned long size;
  const char* cond;
};
struct mtl_kernel_desc {
  const char* name;
  mtl_entry entry;
  const mtl_arg_desc* args;
  unsigned nargs;
  unsigned max_threads;  // [[max_total_threads_per_threadgroup]], 0: the device's limit
};
struct mtl_fc_desc {
  const char* name;
  const char* type;
  unsigned index;
  void* value;
  bool* defined;
  unsigned long size;
};
struct mtl_library_desc {
  const mtl_kernel_desc* kernels;
  unsigned nkernels;
  const mtl_fc_desc* fcs;
  unsigned nfcs;
};
#endif

// executor services used by the shim
void* mtl_simd_slots(void);  // 2 KiB exchange area for this op
#ifndef __OPENCL_CPP_VERSION__
void* mtl_simd_op(const void* v, unsigned size, void (*f)(void*, unsigned), int line);
#endif
int mtl_simd_arrive(unsigned* mask, int line);  // 1: caller computes the result, then mtl_simd_release()
void mtl_simd_release(void);
unsigned mtl_simd_lane(void);
unsigned mtl_thread_index(void);  // in its threadgroup
// All threads of a threadgroup of so many simdgroups meet, and no memory is ordered by it.
void mtl_tensor_operation(unsigned simdgroups, int line);
void mtl_threadgroup_barrier(int flags, int line);
void mtl_simdgroup_barrier(int flags, int line);
void* mtl_tg_alloc(unsigned id, unsigned long size, unsigned long align);
// In check mode: a simdgroup loads or stores a matrix, rows `stride` bytes apart; null: it has.
void mtl_matrix_access(const void* first, unsigned long stride, unsigned element);
#ifdef __OPENCL_CPP_VERSION__
void mtl_fault(const __constant char* what, int line);
#else
void mtl_fault(const char* what, int line);
#endif
}
