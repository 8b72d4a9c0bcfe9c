#import <Foundation/Foundation.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>

#include "objc/text.h"

extern "C" {
void object_dispose(void*);
bool class_respondsToSelector(Class, SEL);
const char* class_getName(Class);
bool class_conformsToName(Class, const char*);
Class class_getSuperclass(Class);
const char* sel_getName(SEL);
}
extern "C" id objc_create(Class) __attribute__((ns_returns_retained));
@implementation NSObject
+ (void)load {
}
+ (instancetype)alloc {
  return objc_create(self);
}
+ (instancetype)new {
  return [[self alloc] init];
}
- (instancetype)init {
  return self;
}
- (void)dealloc {
  object_dispose((__bridge void*)self);
}
+ (Class)class {
  return self;
}
- (Class)class {
  return isa;
}
+ (void)initialize {
}
- (id)copy {
  return [(id)self copyWithZone:nil];
}
- (id)copyWithZone:(NSZone*)z {
  return self;
}
- (BOOL)isEqual:(id)o {
  return (__bridge void*)o == (__bridge void*)self;
}
- (NSUInteger)hash {
  return (NSUInteger)(__bridge void*)self >> 4;
}
- (BOOL)isKindOfClass:(Class)c {
  for (Class k = isa; k; k = class_getSuperclass(k))
    if (k == c) return YES;
  return NO;
}
- (BOOL)respondsToSelector:(SEL)s {
  return class_respondsToSelector(isa, s);
}
- (BOOL)conformsToProtocol:(Protocol*)p {
  return class_conformsToName(isa, ((const char**)(__bridge void*)p)[1]);
}
- (NSString*)description {
  char b[128];
  snprintf(b, sizeof b, "<%s: %p>", class_getName(isa), (__bridge void*)self);
  return N(b);
}
@end
@interface NSConstantString : NSString {
  int flags;
  const char* str;
  long len;
}
@end
@interface NSCString : NSString {
  std::string s;
}
@end
@implementation NSString
+ (instancetype)alloc {
  if ((__bridge void*)self == (__bridge void*)[NSString class]) return (id)[NSCString alloc];
  return [super alloc];
}
+ (instancetype)string {
  return @"";
}
+ (instancetype)stringWithCString:(const char*)s encoding:(NSStringEncoding)e {
  return [[NSCString alloc] initWithUTF8String:s];
}
+ (instancetype)stringWithUTF8String:(const char*)s {
  return [[NSCString alloc] initWithUTF8String:s];
}
+ (instancetype)stringWithContentsOfFile:(NSString*)p encoding:(NSStringEncoding)e error:(NSError**)err {
  std::ifstream f(S(p));
  if (!f) {
    if (err)
      *err = [NSError errorWithDomain:@"NSCocoaErrorDomain"
                                 code:260
                             userInfo:@{NSLocalizedDescriptionKey : @"no such file"}];
    return nil;
  }
  std::stringstream ss;
  ss << f.rdbuf();
  return N(ss.str());
}
static std::string vfmt(NSString* f, va_list ap) {
  std::string r, in = S(f);
  for (size_t i = 0; i < in.size(); i++) {
    if (in[i] != '%') {
      r += in[i];
      continue;
    }
    if (in[i + 1] == '%') {
      r += '%';
      i++;
      continue;
    }
    if (in[i + 1] == '@') {
      id o = va_arg(ap, id);
      r += o ? S([o description]) : "(null)";
      i++;
      continue;
    }
    size_t j = i + 1;
    while (j < in.size() && !strchr("diouxXeEfgGcsp", in[j])) j++;
    std::string spec = in.substr(i, j - i + 1);
    char b[512];
    bool l = spec.find('l') != std::string::npos || spec.find('z') != std::string::npos;
    switch (in[j]) {
      case 's': snprintf(b, sizeof b, spec.c_str(), va_arg(ap, const char*)); break;
      case 'p': snprintf(b, sizeof b, spec.c_str(), va_arg(ap, void*)); break;
      case 'e':
      case 'E':
      case 'f':
      case 'g':
      case 'G': snprintf(b, sizeof b, spec.c_str(), va_arg(ap, double)); break;
      default:
        if (l) snprintf(b, sizeof b, spec.c_str(), va_arg(ap, long));
        else snprintf(b, sizeof b, spec.c_str(), va_arg(ap, int));
    }
    r += b;
    i = j;
  }
  return r;
}
+ (instancetype)stringWithFormat:(NSString*)f, ... {
  va_list ap;
  va_start(ap, f);
  std::string r = vfmt(f, ap);
  va_end(ap);
  return N(r);
}
- (instancetype)initWithUTF8String:(const char*)s {
  return self;
}
- (instancetype)initWithBytes:(const void*)b length:(NSUInteger)n encoding:(NSStringEncoding)e {
  return [self initWithUTF8String:std::string((const char*)b, n).c_str()];
}
- (const char*)UTF8String {
  return "";
}
- (NSUInteger)length {
  return strlen([self UTF8String]);
}
- (BOOL)isEqual:(id)o {
  return [o isKindOfClass:[NSString class]] && !strcmp([self UTF8String], [(NSString*)o UTF8String]);
}
- (BOOL)isEqualToString:(NSString*)o {
  return [self isEqual:o];
}
- (NSUInteger)hash {
  return std::hash<std::string>()(S(self));
}
- (NSString*)stringByAppendingString:(NSString*)o {
  return N(S(self) + S(o));
}
- (BOOL)hasPrefix:(NSString*)p {
  return S(self).rfind(S(p), 0) == 0;
}
- (BOOL)containsString:(NSString*)p {
  return S(self).find(S(p)) != std::string::npos;
}
- (NSString*)description {
  return self;
}
@end
@implementation NSCString
- (instancetype)initWithUTF8String:(const char*)x {
  s = x;
  return self;
}
- (const char*)UTF8String {
  return s.c_str();
}
@end
@implementation NSConstantString
- (const char*)UTF8String {
  return str;
}
- (NSUInteger)length {
  return (NSUInteger)len;
}
@end
asm(".globl __CFConstantStringClassReference\n.set __CFConstantStringClassReference, OBJC_CLASS_$_NSConstantString");
@implementation NSNumber {
  double d;
  long long l;
  char k;
}
#define NUM(name, T, f, kk)       \
  +(NSNumber*)name : (T)v {       \
    NSNumber* n = [NSNumber new]; \
    n->d = (double)v;             \
    n->l = (long long)v;          \
    n->k = kk;                    \
    return n;                     \
  }
NUM(numberWithInt, int, l, 'i')
NUM(numberWithUnsignedInt, unsigned, l, 'i')
NUM(numberWithLong, long, l, 'i')
NUM(numberWithUnsignedLong, unsigned long, l, 'i')
NUM(numberWithDouble, double, d, 'd')
NUM(numberWithFloat, float, d, 'd')
NUM(numberWithBool, BOOL, l, 'i')
NUM(numberWithLongLong, long long, l, 'i') NUM(numberWithUnsignedLongLong, unsigned long long, l, 'i') - (int)intValue {
  return (int)l;
}
- (double)doubleValue {
  return d;
}
- (NSUInteger)unsignedIntegerValue {
  return (NSUInteger)l;
}
- (BOOL)boolValue {
  return l != 0;
}
- (NSString*)stringValue {
  return k == 'd' ? [NSString stringWithFormat:@"%g", d] : [NSString stringWithFormat:@"%ld", (long)l];
}
- (NSString*)description {
  return [self stringValue];
}
- (BOOL)isEqual:(id)o {
  return [o isKindOfClass:[NSNumber class]] && ((NSNumber*)o)->d == d;
}
- (NSUInteger)hash {
  return (NSUInteger)l;
}
@end
NSString* const NSLocalizedDescriptionKey = @"NSLocalizedDescription";
@implementation NSError {
  NSInteger code;
  NSString* domain;
  NSDictionary* info;
}
+ (instancetype)errorWithDomain:(NSString*)d code:(NSInteger)c userInfo:(NSDictionary*)u {
  NSError* e = [NSError new];
  e->domain = d;
  e->code = c;
  e->info = u;
  return e;
}
- (NSInteger)code {
  return code;
}
- (NSString*)domain {
  return domain;
}
- (NSDictionary*)userInfo {
  return info;
}
- (NSString*)localizedDescription {
  NSString* s = info[NSLocalizedDescriptionKey];
  return s ? s : @"error";
}
- (NSString*)description {
  return
      [NSString stringWithFormat:@"Error Domain=%@ Code=%ld \"%@\"", domain, (long)code, [self localizedDescription]];
}
@end
@implementation NSData {
  std::string content;
}
+ (instancetype)dataWithBytes:(const void*)b length:(NSUInteger)n {
  NSData* data = [self new];
  data->content.assign(static_cast<const char*>(b), n);
  return data;
}
- (const void*)bytes {
  return content.data();
}
- (NSUInteger)length {
  return content.size();
}
@end

@implementation NSURL {
  NSString* p;
}
+ (NSURL*)fileURLWithPath:(NSString*)x {
  NSURL* u = [NSURL new];
  u->p = x;
  return u;
}
- (NSString*)path {
  return p;
}
@end
void NSLog(NSString* f, ...) {
  va_list ap;
  va_start(ap, f);
  std::string r = vfmt(f, ap);
  va_end(ap);
  fprintf(stderr, "%s\n", r.c_str());
}

@implementation NSProcessInfo
+ (NSProcessInfo*)processInfo {
  return [NSProcessInfo new];
}
- (NSString*)operatingSystemVersionString {
  return @"Stand-in 1";
}
@end
