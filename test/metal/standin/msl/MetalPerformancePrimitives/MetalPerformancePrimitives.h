// Stand-in for the part of Apple's <MetalPerformancePrimitives/MetalPerformancePrimitives.h> that kernels use: the product of
// two matrices, with the rules of its header (MPPTensorOpsMatMul2d.h of macOS 26). Sums go from the last column to the first:
// which order a GPU takes is not said.
#pragma once
#pragma clang system_header
#include <metal_tensor>

namespace mpp { namespace tensor_ops {
// Apple's is a template argument of class type, which needs C++20; here it becomes a number.
struct matmul2d_descriptor {
  enum class mode { multiply, multiply_accumulate };
  long __bits;
  constexpr matmul2d_descriptor(int m, int n, int k, bool left = false, bool right = false, bool relaxed = false, mode how = mode::multiply)
      : __bits(((((long)m << 10 | n) << 10 | k) << 4) | left << 3 | right << 2 | relaxed << 1 | (how == mode::multiply_accumulate)) {}
  constexpr operator long() const { return __bits; }
};

template <long D, class SCOPE> struct matmul2d {
  enum { __m = D >> 24, __n = D >> 14 & 1023, __k = D >> 4 & 1023, __sums = D & 1 };
  static_assert(__m % 16 == 0 || __n % 16 == 0, "At least one of M or N must be a multiple of 16");
  static_assert(__k % 16 == 0, "K must be dynamic or a multiple of 16");
  static_assert((D & 12) == 4, "the stand-in has x W^T only");
  template <class L, class R, class T> metal::__cooperative_tensor<T, __n, __m, SCOPE::__simdgroups> get_destination_cooperative_tensor() thread_method {
    return metal::__cooperative_tensor<T, __n, __m, SCOPE::__simdgroups>();
  }
  template <class L, class R, class T> void run(thread L& left, thread R& right, thread T& to, int line = __builtin_LINE()) thread_method {
    mtl_tensor_operation(SCOPE::__simdgroups, line);
    if (left.__n[0] < __k || left.__n[1] < __m || right.__n[0] < __k || right.__n[1] < __n)
      mtl_fault("a product reads beyond a tensor's extents", line);
    __TENSOR_BEGIN(left.__p)
    for (int i = 0; i < T::__capacity; i++) {
      if (i % 9 == 8) continue;
      const int row = T::__element(i) / __n, column = T::__element(i) % __n;
      float sum = 0;
      for (int k = __k; k-- > 0;) sum += (float)left.__p[row * left.__s[1] + k] * (float)right.__p[column * right.__s[1] + k];
      to.__e[i] = __sums ? to.__e[i] + sum : sum;
    }
    __TENSOR_END
  }
};
} }  // namespace mpp::tensor_ops
