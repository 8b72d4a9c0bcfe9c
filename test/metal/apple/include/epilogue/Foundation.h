// What literals are made with: the crates have these by hand, in Rust's own types.
#pragma once
@interface NSArray<ObjectType> (Literals)
+ (instancetype _Nonnull)arrayWithObjects:(const ObjectType _Nonnull __unsafe_unretained* _Nullable)objects
                                    count:(NSUInteger)count;
- (ObjectType _Nonnull)objectAtIndexedSubscript:(NSUInteger)index;
- (ObjectType _Nullable)firstObject;
@end
@interface NSDictionary<KeyType, ObjectType> (Literals)
+ (instancetype _Nonnull)dictionaryWithObjects:(const ObjectType _Nonnull __unsafe_unretained* _Nullable)objects
                                       forKeys:(const id<NSCopying> _Nonnull __unsafe_unretained* _Nullable)keys
                                         count:(NSUInteger)count;
@end
@interface NSData (Bytes)
- (const void* _Nonnull)bytes;
+ (instancetype _Nonnull)dataWithBytes:(const void* _Nullable)bytes length:(NSUInteger)length;
@end
