// What Foundation's own header brings before its classes: Objective-C's root, Core Foundation's references, availability.
#pragma once
#include <CoreFoundation/CoreFoundation.h>
#include <dispatch/dispatch.h>
#include <stddef.h>
#include <stdint.h>

typedef bool BOOL;
#define YES __objc_yes
#define NO __objc_no
#define nil nullptr
typedef long NSInteger;
typedef unsigned long NSUInteger;
typedef unsigned short unichar;
#define API_AVAILABLE_macos(version) macos, introduced = version
#define API_AVAILABLE(platform) __attribute__((availability(API_AVAILABLE_##platform)))

typedef struct {
  NSUInteger location, length;
} NSRange;
static inline NSRange NSMakeRange(NSUInteger location, NSUInteger length) { return NSRange{location, length}; }
static inline NSUInteger NSMaxRange(NSRange range) { return range.location + range.length; }

@protocol NSObject
- (BOOL)isEqual:(id _Nullable)object;
- (NSUInteger)hash;
- (BOOL)isKindOfClass:(Class _Nonnull)aClass;
- (BOOL)respondsToSelector:(SEL _Nonnull)aSelector;
@end
@protocol NSCopying
@end
typedef struct {
  unsigned long state;
  id __unsafe_unretained _Nullable* _Nullable itemsPtr;
  unsigned long* _Nullable mutationsPtr;
  unsigned long extra[5];
} NSFastEnumerationState;
@protocol NSFastEnumeration
- (NSUInteger)countByEnumeratingWithState:(NSFastEnumerationState* _Nonnull)state
                                  objects:(id __unsafe_unretained _Nullable* _Nonnull)buffer
                                    count:(NSUInteger)count;
@end
__attribute__((objc_root_class)) @interface NSObject <NSObject>
+ (instancetype _Nonnull)alloc;
+ (instancetype _Nonnull)new;
- (instancetype _Nonnull)init;
- (id _Nonnull)copy;
@end
static inline CFTypeRef _Nullable CFBridgingRetain(id _Nullable object) { return (__bridge_retained CFTypeRef)object; }
static inline id _Nullable CFBridgingRelease(CFTypeRef _Nullable object) { return (__bridge_transfer id)object; }
