#pragma once
#include <CoreFoundation/CoreFoundation.h>
#include <CoreGraphics/CoreGraphics.h>
typedef struct CGImageSource* CGImageSourceRef;
extern "C" CGImageSourceRef CGImageSourceCreateWithData(CFDataRef, CFDictionaryRef);
extern "C" CGImageRef CGImageSourceCreateImageAtIndex(CGImageSourceRef, size_t, CFDictionaryRef);
