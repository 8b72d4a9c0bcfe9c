// XXH64 (the published specification of xxHash): a checksum that keeps up with memory. It finds accidents, not intent.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>

namespace longhand {

namespace xxh {

inline constexpr uint64_t p1 = 0x9E3779B185EBCA87, p2 = 0xC2B2AE3D27D4EB4F, p3 = 0x165667B19E3779F9,
                          p4 = 0x85EBCA77C2B2AE63, p5 = 0x27D4EB2F165667C5;

// Little-endian, as every processor here is.
template <class T, class Byte>
constexpr T read(const Byte* from) {
  T value = 0;
  if (std::is_constant_evaluated()) {
    for (size_t i = sizeof(T); i-- > 0;) value = static_cast<T>(value << 8 | static_cast<uint8_t>(from[i]));
  } else {
    std::memcpy(&value, from, sizeof value);
  }
  return value;
}

constexpr uint64_t round(uint64_t sum, uint64_t lane) { return std::rotl(sum + lane * p2, 31) * p1; }
constexpr uint64_t merge(uint64_t hash, uint64_t sum) { return (hash ^ round(0, sum)) * p1 + p4; }

template <class Byte>
constexpr uint64_t hash(const Byte* at, size_t size, uint64_t seed) {
  const Byte* const end = at + size;
  uint64_t hash = seed + p5;
  if (size >= 32) {
    uint64_t sums[] = {seed + p1 + p2, seed + p2, seed, seed - p1};
    for (; end - at >= 32; at += 32)
      for (int i = 0; i < 4; ++i) sums[i] = round(sums[i], read<uint64_t>(at + 8 * i));
    hash = std::rotl(sums[0], 1) + std::rotl(sums[1], 7) + std::rotl(sums[2], 12) + std::rotl(sums[3], 18);
    for (const uint64_t sum : sums) hash = merge(hash, sum);
  }
  hash += size;
  for (; end - at >= 8; at += 8) hash = std::rotl(hash ^ round(0, read<uint64_t>(at)), 27) * p1 + p4;
  for (; end - at >= 4; at += 4) hash = std::rotl(hash ^ read<uint32_t>(at) * p1, 23) * p2 + p3;
  for (; at < end; ++at) hash = std::rotl(hash ^ static_cast<uint8_t>(*at) * p5, 11) * p1;
  hash = (hash ^ hash >> 33) * p2;
  hash = (hash ^ hash >> 29) * p3;
  return hash ^ hash >> 32;
}

}  // namespace xxh

inline uint64_t xxh64(std::span<const std::byte> bytes, uint64_t seed = 0) {
  return xxh::hash(bytes.data(), bytes.size(), seed);
}
constexpr uint64_t xxh64(std::string_view text, uint64_t seed = 0) { return xxh::hash(text.data(), text.size(), seed); }

static_assert(xxh64("") == 0xEF46DB3751D8E999);
static_assert(xxh64("a") == 0xD24EC4F1A98C6E5B);
static_assert(xxh64("abc") == 0x44BC2CF5AD770999);
static_assert(xxh64("Nobody inspects the spammish repetition") == 0xFBCEA83C8A378BF1);

}  // namespace longhand
