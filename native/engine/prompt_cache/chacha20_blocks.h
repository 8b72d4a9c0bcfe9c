// ChaCha20 of RFC 8439 over several blocks side by side: a vector holds one word of each. Compiled once for each
// instruction set, so no inline function is shared between files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace longhand {

#if defined(__x86_64__)
// For processors with AVX2, which take all eight at once.
void apply_eight_blocks_avx2(const uint32_t* state, std::byte* at);
#endif

namespace {

constexpr size_t block_bytes = 64;

template <int by, class Words>
inline void rotate(Words& words) {
  words = words << by | words >> (32 - by);
}

template <class Words>
inline void quarter_round(Words& a, Words& b, Words& c, Words& d) {
  a += b, d ^= a, rotate<16>(d);
  c += d, b ^= c, rotate<12>(b);
  a += b, d ^= a, rotate<8>(d);
  c += d, b ^= c, rotate<7>(b);
}

template <class Words>
inline void twenty_rounds(Words (&x)[16]) {
  for (int round = 0; round < 20; round += 2) {
    quarter_round(x[0], x[4], x[8], x[12]);
    quarter_round(x[1], x[5], x[9], x[13]);
    quarter_round(x[2], x[6], x[10], x[14]);
    quarter_round(x[3], x[7], x[11], x[15]);
    quarter_round(x[0], x[5], x[10], x[15]);
    quarter_round(x[1], x[6], x[11], x[12]);
    quarter_round(x[2], x[7], x[8], x[13]);
    quarter_round(x[3], x[4], x[9], x[14]);
  }
}

// Adds the key stream to as many blocks as a vector has words.
template <class Lanes>
inline void apply_blocks(const uint32_t* state, std::byte* at) {
  constexpr size_t lanes = sizeof(Lanes) / sizeof(uint32_t);
  Lanes x[16], begin[16];
  for (size_t i = 0; i < 16; ++i) begin[i] = Lanes{} + state[i];
  for (size_t lane = 0; lane < lanes; ++lane) begin[12][lane] += static_cast<uint32_t>(lane);
  for (size_t i = 0; i < 16; ++i) x[i] = begin[i];
  twenty_rounds(x);
  for (size_t i = 0; i < 16; ++i) x[i] += begin[i];
  for (size_t lane = 0; lane < lanes; ++lane) {
    for (size_t i = 0; i < 16; i += 4) {
      using Four = uint32_t __attribute__((vector_size(16)));
      std::byte* const to = at + lane * block_bytes + 4 * i;
      Four words;
      std::memcpy(&words, to, sizeof words);
      words ^= Four{x[i][lane], x[i + 1][lane], x[i + 2][lane], x[i + 3][lane]};
      std::memcpy(to, &words, sizeof words);
    }
  }
}

}  // namespace

}  // namespace longhand
