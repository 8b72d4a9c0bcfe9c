#pragma once
#include <stddef.h>
typedef double CGFloat;
struct CGPoint {
  CGFloat x, y;
};
struct CGSize {
  CGFloat width, height;
};
struct CGRect {
  CGPoint origin;
  CGSize size;
};
typedef struct CGImage* CGImageRef;
extern "C" {
void CGImageRelease(CGImageRef);
size_t CGImageGetWidth(CGImageRef);
size_t CGImageGetHeight(CGImageRef);
CGFloat CGRectGetMinX(CGRect);
CGFloat CGRectGetMinY(CGRect);
CGFloat CGRectGetMaxX(CGRect);
CGFloat CGRectGetMaxY(CGRect);
}
