// Arrays and dictionaries.
#import <Foundation/Foundation.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "objc/text.h"

@implementation NSArray {
 @public
  std::vector<id> v;
  unsigned long mut;
}
+ (instancetype)array {
  return [self new];
}
+ (instancetype)arrayWithObjects:(const id[])o count:(NSUInteger)n {
  NSArray* a = [self new];
  for (NSUInteger i = 0; i < n; i++) a->v.push_back(o[i]);
  return a;
}
- (NSUInteger)count {
  return v.size();
}
- (id)objectAtIndex:(NSUInteger)i {
  if (i >= v.size()) {
    fprintf(stderr, "*** index %lu beyond bounds %zu\n", i, v.size());
    abort();
  }
  return v[i];
}
- (id)objectAtIndexedSubscript:(NSUInteger)i {
  return [self objectAtIndex:i];
}
- (BOOL)containsObject:(id)o {
  for (id x : v)
    if ([x isEqual:o]) return YES;
  return NO;
}
- (NSUInteger)countByEnumeratingWithState:(NSFastEnumerationState*)s
                                  objects:(id __unsafe_unretained[])b
                                    count:(NSUInteger)n {
  if (s->state) return 0;
  s->state = 1;
  s->itemsPtr = (id __unsafe_unretained*)(void*)v.data();
  s->mutationsPtr = &mut;
  return v.size();
}
- (NSString*)description {
  std::string r = "(";
  for (id x : v) r += " " + S([x description]);
  return N(r + " )");
}
@end
@implementation NSMutableArray
- (void)addObject:(id)o {
  v.push_back(o);
  mut++;
}
- (void)removeAllObjects {
  v.clear();
  mut++;
}
@end
@implementation NSDictionary {
 @public
  std::vector<std::pair<id, id>> v;
}
+ (instancetype)dictionary {
  return [self new];
}
+ (instancetype)dictionaryWithObjects:(const id[])o forKeys:(const id[])k count:(NSUInteger)n {
  NSDictionary* d = [self new];
  for (NSUInteger i = 0; i < n; i++) d->v.push_back({k[i], o[i]});
  return d;
}
- (NSUInteger)count {
  return v.size();
}
- (id)objectForKey:(id)k {
  for (auto& p : v)
    if ([p.first isEqual:k]) return p.second;
  return nil;
}
- (id)objectForKeyedSubscript:(id)k {
  return [self objectForKey:k];
}
- (NSArray*)allKeys {
  NSMutableArray* a = [NSMutableArray new];
  for (auto& p : v) [a addObject:p.first];
  return a;
}
@end
@implementation NSMutableDictionary
- (void)setObject:(id)o forKey:(id)k {
  for (auto& p : v)
    if ([p.first isEqual:k]) {
      p.second = o;
      return;
    }
  v.push_back({k, o});
}
- (void)setObject:(id)o forKeyedSubscript:(id)k {
  [self setObject:o forKey:k];
}
@end
