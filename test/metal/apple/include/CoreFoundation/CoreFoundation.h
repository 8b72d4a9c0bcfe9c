#pragma once
typedef const void* CFTypeRef;
typedef const struct __CFData* CFDataRef;
typedef const struct __CFDictionary* CFDictionaryRef;
typedef double CFTimeInterval;
extern "C" void CFRelease(CFTypeRef);
