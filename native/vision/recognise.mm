// VNRecognizeTextRequest (macOS 10.15). Its lines are cut into words by their white space; each word asks its line for
// its own box, and where writing has no spaces each character does, so that a mark in the viewer covers these words
// only.
#include "vision/recognise.h"

#import <Foundation/Foundation.h>
#import <ImageIO/ImageIO.h>
#import <Vision/Vision.h>

#include "formats/error.h"

namespace longhand {

namespace {

struct Picture {
  CGImageRef image = nullptr;
  ~Picture() { CGImageRelease(image); }
};

void decode(std::span<const std::byte> bytes, Picture& picture) {
  NSData* data = [NSData dataWithBytes:bytes.data() length:bytes.size()];
  CGImageSourceRef source = CGImageSourceCreateWithData((__bridge CFDataRef)data, nullptr);
  if (source) {
    picture.image = CGImageSourceCreateImageAtIndex(source, 0, nullptr);
    CFRelease(source);
  }
  if (!picture.image) throw FormatError("[vision] the picture cannot be decoded");
}

// Vision counts from the bottom left corner, in shares of the picture.
PixelBox pixels(CGRect share, const Picture& picture) {
  const auto width = static_cast<double>(CGImageGetWidth(picture.image));
  const auto height = static_cast<double>(CGImageGetHeight(picture.image));
  return {.left = CGRectGetMinX(share) * width,
          .top = (1 - CGRectGetMaxY(share)) * height,
          .right = CGRectGetMaxX(share) * width,
          .bottom = (1 - CGRectGetMinY(share)) * height};
}

// Han, kana and Hangul: written without spaces, or with boxes that are wanted a character at a time.
bool stands_alone(unichar character) {
  return (character >= 0x2e80 && character <= 0x9fff) || (character >= 0xac00 && character <= 0xd7af) ||
         (character >= 0xf900 && character <= 0xfaff) || (character >= 0xff00 && character <= 0xffef);
}

// Words of a line, and whether white space stands before each.
struct Part {
  NSRange range;
  bool spaced;
};

std::vector<Part> parts_of(NSString* text) {
  NSCharacterSet* white = NSCharacterSet.whitespaceAndNewlineCharacterSet;
  std::vector<Part> parts;
  bool spaced = true, open = false;
  for (NSUInteger at = 0; at < text.length;) {
    const NSRange whole = [text rangeOfComposedCharacterSequenceAtIndex:at];
    const unichar character = [text characterAtIndex:at];
    at = NSMaxRange(whole);
    if ([white characterIsMember:character]) {
      spaced = true;
      open = false;
      continue;
    }
    const bool alone = stands_alone(character);
    if (open && !alone) {
      parts.back().range.length = NSMaxRange(whole) - parts.back().range.location;
    } else {
      parts.push_back({whole, spaced});
    }
    open = !alone;
    spaced = false;
  }
  return parts;
}

RecognisedLine line_of(VNRecognizedTextObservation* seen, VNRecognizedText* text, const Picture& picture) {
  RecognisedLine line{
      .confidence = static_cast<double>(text.confidence), .box = pixels(seen.boundingBox, picture), .words = {}};
  for (const Part& part : parts_of(text.string)) {
    // Without a box of its own a word has no place that could be marked.
    VNRectangleObservation* place = [text boundingBoxForRange:part.range error:nil];
    if (!place) continue;
    NSString* word = [text.string substringWithRange:part.range];
    line.words.push_back({word.UTF8String, part.spaced, pixels(place.boundingBox, picture)});
  }
  return line;
}

}  // namespace

bool can_recognise() { return true; }

std::vector<RecognisedLine> recognise(std::span<const std::byte> bytes) {
  @autoreleasepool {
    Picture picture;
    decode(bytes, picture);
    VNRecognizeTextRequest* request = [[VNRecognizeTextRequest alloc] init];
    request.recognitionLevel = VNRequestTextRecognitionLevelAccurate;
    request.usesLanguageCorrection = YES;
    if (@available(macOS 13.0, *)) request.automaticallyDetectsLanguage = YES;
    VNImageRequestHandler* handler = [[VNImageRequestHandler alloc] initWithCGImage:picture.image options:@{}];
    NSError* error = nil;
    if (![handler performRequests:@[ request ] error:&error]) {
      const char* reason = error.localizedDescription.UTF8String;
      throw FormatError(std::string("[vision] the picture cannot be read: ") + (reason ? reason : "no reason given"));
    }
    std::vector<RecognisedLine> lines;
    for (VNRecognizedTextObservation* seen in request.results) {
      VNRecognizedText* best = [seen topCandidates:1].firstObject;
      if (best) lines.push_back(line_of(seen, best, picture));
    }
    return lines;
  }
}

}  // namespace longhand
