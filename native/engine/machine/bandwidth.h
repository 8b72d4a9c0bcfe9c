// How fast this machine reads memory: what the speed of decoding hangs on.
#pragma once

namespace longhand {

// Bytes a second that all cores together read from main memory, the best of a few passes. Takes about 0.2 s and 256
// MiB. 0 when there is no room for the measurement.
double memory_bandwidth();

}  // namespace longhand
