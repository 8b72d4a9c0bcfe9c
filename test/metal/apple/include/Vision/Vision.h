// Made by generate.py from objc2-vision 0.3.2 (Zlib, Apache-2.0 or MIT).
#pragma once
#include "../prelude/Vision.h"
@class VNDetectedObjectObservation, VNImageBasedRequest, VNImageRequestHandler, VNObservation, VNRecognizeTextRequest, VNRecognizedText, VNRecognizedTextObservation, VNRectangleObservation, VNRequest;
typedef enum __attribute__((enum_extensibility(open))) VNRequestTextRecognitionLevel : NSInteger VNRequestTextRecognitionLevel;
enum VNRequestTextRecognitionLevel : NSInteger { VNRequestTextRecognitionLevelAccurate = 0, VNRequestTextRecognitionLevelFast = 1 };
@interface VNObservation : NSObject <NSCopying>
- (float)confidence;
@end
@interface VNDetectedObjectObservation : VNObservation <NSCopying>
+ (instancetype _Nonnull)observationWithBoundingBox:(CGRect)a0;
+ (instancetype _Nonnull)observationWithRequestRevision:(NSUInteger)a0 boundingBox:(CGRect)a1;
- (CGRect)boundingBox;
@end
@interface VNRequest : NSObject <NSCopying>
- (BOOL)preferBackgroundProcessing;
- (void)setPreferBackgroundProcessing:(BOOL)a0;
- (BOOL)usesCPUOnly;
- (void)setUsesCPUOnly:(BOOL)a0;
- (NSArray<VNObservation *> * _Nullable)results;
- (NSUInteger)revision;
- (void)setRevision:(NSUInteger)a0;
+ (NSUInteger)defaultRevision;
+ (NSUInteger)currentRevision;
- (void)cancel;
@end
@interface VNImageBasedRequest : VNRequest <NSCopying>
- (CGRect)regionOfInterest;
- (void)setRegionOfInterest:(CGRect)a0;
@end
@interface VNImageRequestHandler : NSObject <NSCopying>
- (instancetype _Nonnull)initWithCGImage:(CGImageRef _Nonnull)a0 options:(NSDictionary<NSString *, id> * _Nonnull)a1;
- (instancetype _Nonnull)initWithURL:(NSURL * _Nonnull)a0 options:(NSDictionary<NSString *, id> * _Nonnull)a1;
- (instancetype _Nonnull)initWithData:(NSData * _Nonnull)a0 options:(NSDictionary<NSString *, id> * _Nonnull)a1;
- (BOOL)performRequests:(NSArray<VNRequest *> * _Nonnull)a0 error:(NSError * _Nullable * _Nullable)a1;
@end
@interface VNRecognizeTextRequest : VNImageBasedRequest <NSCopying>
+ (NSArray<NSString *> * _Nullable)supportedRecognitionLanguagesForTextRecognitionLevel:(VNRequestTextRecognitionLevel)a0 revision:(NSUInteger)a1 error:(NSError * _Nullable * _Nullable)a2;
- (NSArray<NSString *> * _Nullable)supportedRecognitionLanguagesAndReturnError:(NSError * _Nullable * _Nullable)a0;
- (NSArray<NSString *> * _Nonnull)recognitionLanguages;
- (void)setRecognitionLanguages:(NSArray<NSString *> * _Nonnull)a0;
- (NSArray<NSString *> * _Nonnull)customWords;
- (void)setCustomWords:(NSArray<NSString *> * _Nonnull)a0;
- (VNRequestTextRecognitionLevel)recognitionLevel;
- (void)setRecognitionLevel:(VNRequestTextRecognitionLevel)a0;
- (BOOL)usesLanguageCorrection;
- (void)setUsesLanguageCorrection:(BOOL)a0;
- (BOOL)automaticallyDetectsLanguage;
- (void)setAutomaticallyDetectsLanguage:(BOOL)a0;
- (float)minimumTextHeight;
- (void)setMinimumTextHeight:(float)a0;
- (NSArray<VNRecognizedTextObservation *> * _Nullable)results;
@end
@interface VNRecognizedText : NSObject <NSCopying>
- (NSString * _Nonnull)string;
- (float)confidence;
- (VNRectangleObservation * _Nullable)boundingBoxForRange:(NSRange)a0 error:(NSError * _Nullable * _Nullable)a1;
@end
@interface VNRectangleObservation : VNDetectedObjectObservation <NSCopying>
+ (instancetype _Nonnull)rectangleObservationWithRequestRevision:(NSUInteger)a0 topLeft:(CGPoint)a1 bottomLeft:(CGPoint)a2 bottomRight:(CGPoint)a3 topRight:(CGPoint)a4;
+ (instancetype _Nonnull)rectangleObservationWithRequestRevision:(NSUInteger)a0 topLeft:(CGPoint)a1 topRight:(CGPoint)a2 bottomRight:(CGPoint)a3 bottomLeft:(CGPoint)a4;
- (CGPoint)topLeft;
- (CGPoint)topRight;
- (CGPoint)bottomLeft;
- (CGPoint)bottomRight;
+ (instancetype _Nonnull)observationWithBoundingBox:(CGRect)a0;
+ (instancetype _Nonnull)observationWithRequestRevision:(NSUInteger)a0 boundingBox:(CGRect)a1;
@end
@interface VNRecognizedTextObservation : VNRectangleObservation <NSCopying>
- (NSArray<VNRecognizedText *> * _Nonnull)topCandidates:(NSUInteger)a0;
+ (instancetype _Nonnull)rectangleObservationWithRequestRevision:(NSUInteger)a0 topLeft:(CGPoint)a1 bottomLeft:(CGPoint)a2 bottomRight:(CGPoint)a3 topRight:(CGPoint)a4;
+ (instancetype _Nonnull)rectangleObservationWithRequestRevision:(NSUInteger)a0 topLeft:(CGPoint)a1 topRight:(CGPoint)a2 bottomRight:(CGPoint)a3 bottomLeft:(CGPoint)a4;
+ (instancetype _Nonnull)observationWithBoundingBox:(CGRect)a0;
+ (instancetype _Nonnull)observationWithRequestRevision:(NSUInteger)a0 boundingBox:(CGRect)a1;
@end
#include "../epilogue/Vision.h"
