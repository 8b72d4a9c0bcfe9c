// A result has the class of its request: the crate has it where the class is declared.
#pragma once
@interface VNRecognizeTextRequest (Results)
- (NSArray<VNRecognizedTextObservation*>* _Nullable)results;
@end
