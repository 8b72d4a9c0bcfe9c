// Text recognition by the operating system: Vision on macOS; unavailable.cc elsewhere, where Tesseract reads pictures
// (app/documents/parse/ocr.ts).
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace longhand {

// A box in pixels, from the top left corner of the picture.
struct PixelBox {
  double left = 0, top = 0, right = 0, bottom = 0;
};

struct RecognisedWord {
  std::string text;
  bool spaced = true;  // white space stands before it
  PixelBox box;
};

struct RecognisedLine {
  double confidence = 0;  // 0 to 1
  PixelBox box;
  std::vector<RecognisedWord> words;
};

bool can_recognise();

// `picture`: the bytes of a PNG, JPEG or any other file that the system decodes. Lines in reading order.
// Throws FormatError for a picture that cannot be decoded, Unsupported where there is no recogniser.
std::vector<RecognisedLine> recognise(std::span<const std::byte> picture);

}  // namespace longhand
