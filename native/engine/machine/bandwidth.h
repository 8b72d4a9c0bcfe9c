// Measures how fast this machine reads memory, which limits the speed of decoding.
#pragma once

namespace longhand {

// Bytes per second that all cores together read from main memory, the best of a few passes. Takes about 0.2 s and 256
// MiB. Returns 0 if there is not enough memory to measure.
double memory_bandwidth();

}  // namespace longhand
