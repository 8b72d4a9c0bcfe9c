// Strings of C++ and of Foundation.
#pragma once

#import <Foundation/Foundation.h>

#include <string>

inline std::string S(NSString* s) { return s ? std::string([s UTF8String]) : "(null)"; }
inline NSString* N(const std::string& s) { return [[NSString alloc] initWithUTF8String:s.c_str()]; }
