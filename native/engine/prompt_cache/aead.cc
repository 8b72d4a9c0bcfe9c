#include "engine/prompt_cache/aead.h"

#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "engine/prompt_cache/chacha20_blocks.h"

namespace longhand {

namespace {

static_assert(std::endian::native == std::endian::little);

constexpr uint32_t constants[] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};  // "expand 32-byte k"

using ChachaState = std::array<uint32_t, 16>;

// Adds the key stream to as many blocks as the processor takes at once, of at least four, and returns their number.
size_t apply_several_blocks(const ChachaState& state, std::span<std::byte> piece) {
#if defined(__x86_64__)
  static const bool has_avx2 = __builtin_cpu_supports("avx2");
  if (has_avx2 && piece.size() >= 8 * block_bytes) {
    apply_eight_blocks_avx2(state.data(), piece.data());
    return 8;
  }
#endif
  using Four = uint32_t __attribute__((vector_size(16)));
  apply_blocks<Four>(state.data(), piece.data());
  return 4;
}

ChachaState state_of(const AeadKey& key, const std::array<uint32_t, 4>& input) {
  std::array<uint32_t, 16> state;
  std::ranges::copy(constants, state.begin());
  std::ranges::copy(key.words, state.begin() + 4);
  std::ranges::copy(input, state.begin() + 12);
  return state;
}

ChachaState block(const ChachaState& state) {
  uint32_t x[16];
  std::ranges::copy(state, x);
  twenty_rounds(x);
  std::array<uint32_t, 16> out;
  for (size_t i = 0; i < 16; ++i) out[i] = x[i] + state[i];
  return out;
}

// ---- Poly1305 -----------------------------------------------------------------------------------------------------

__extension__ typedef unsigned __int128 Wide;

constexpr uint64_t bits44 = (uint64_t{1} << 44) - 1, bits42 = (uint64_t{1} << 42) - 1;
constexpr uint64_t top_bit = uint64_t{1} << 40;  // 2^128 in the highest limb

uint64_t word(const std::byte* from) {
  uint64_t out;
  std::memcpy(&out, from, sizeof out);
  return out;
}

// The sum of products of limbs. 2^130 = 5, so what is beyond 132 bits counts 20 times.
template <class Number>
struct Product {
  Wide low = 0, middle = 0, high = 0;

  void add(const Number& a, const Number& b) {
    const uint64_t middle20 = b.middle * 20, high20 = b.high * 20;
    low += Wide{a.low} * b.low + Wide{a.middle} * high20 + Wide{a.high} * middle20;
    middle += Wide{a.low} * b.middle + Wide{a.middle} * b.low + Wide{a.high} * high20;
    high += Wide{a.low} * b.high + Wide{a.middle} * b.middle + Wide{a.high} * b.low;
  }
  Number reduced() const {
    const Wide m = middle + static_cast<uint64_t>(low >> 44), h = high + static_cast<uint64_t>(m >> 44);
    const uint64_t l = (static_cast<uint64_t>(low) & bits44) + static_cast<uint64_t>(h >> 42) * 5;
    return {l & bits44, (static_cast<uint64_t>(m) & bits44) + (l >> 44), static_cast<uint64_t>(h) & bits42};
  }
};

}  // namespace

void wipe(void* secret, size_t bytes) {
  volatile auto* at = static_cast<volatile unsigned char*>(secret);
  for (size_t i = 0; i < bytes; ++i) at[i] = 0;
}

bool random_bytes(std::span<std::byte> out) { return ::getentropy(out.data(), out.size()) == 0; }

AeadKey::AeadKey(std::span<const std::byte, 32> bytes) { std::memcpy(words.data(), bytes.data(), sizeof words); }

bool same_tag(const AeadTag& a, const AeadTag& b) {
  volatile uint8_t differs = 0;
  for (size_t i = 0; i < a.size(); ++i) differs = differs | std::to_integer<uint8_t>(a[i] ^ b[i]);
  return differs == 0;
}

std::array<uint32_t, 16> chacha20_block(const AeadKey& key, const std::array<uint32_t, 4>& input) {
  return block(state_of(key, input));
}

Aead::Aead(const AeadKey& key, const AeadNonce& nonce, std::span<const std::byte> additional)
    : additional_bytes_(additional.size()) {
  std::array<uint32_t, 4> input{};
  std::memcpy(&input[1], nonce.data(), nonce.size());
  state_ = state_of(key, input);
  std::array<uint32_t, 16> one_time = block(state_);
  state_[12] = 1;
  std::array<uint64_t, 4> words;
  std::memcpy(words.data(), one_time.data(), sizeof words);
  r_ = {words[0] & 0xffc0fffffff, (words[0] >> 44 | words[1] << 20) & 0xfffffc0ffff, words[1] >> 24 & 0xffffffc0f};
  r2_ = times(r_, r_);
  mask_ = {words[2], words[3]};
  wipe(one_time.data(), sizeof one_time);
  wipe(words.data(), sizeof words);
  authenticate(additional);
  pad();
}

Aead::~Aead() { wipe(this, sizeof *this); }

void Aead::encrypt(std::span<std::byte> piece) {
  apply_stream(piece);
  authenticate(piece);
  bytes_ += piece.size();
}

void Aead::decrypt(std::span<std::byte> piece) {
  authenticate(piece);
  apply_stream(piece);
  bytes_ += piece.size();
}

void Aead::apply_stream(std::span<std::byte> piece) {
  while (!piece.empty()) {
    if (left_ == 0 && piece.size() >= 4 * block_bytes) {
      const size_t blocks = apply_several_blocks(state_, piece);
      state_[12] += static_cast<uint32_t>(blocks);
      piece = piece.subspan(blocks * block_bytes);
      continue;
    }
    if (left_ == 0) {
      const std::array<uint32_t, 16> next = block(state_);
      std::memcpy(stream_.data(), next.data(), sizeof stream_);
      ++state_[12];
      left_ = block_bytes;
    }
    const size_t count = std::min(left_, piece.size());
    for (size_t i = 0; i < count; ++i) piece[i] ^= stream_[block_bytes - left_ + i];
    left_ -= count;
    piece = piece.subspan(count);
  }
}

Aead::Number Aead::times(const Number& a, const Number& b) {
  Product<Number> product;
  product.add(a, b);
  return product.reduced();
}

// Two blocks at a time, (sum + first) * r^2 + second * r, so that one multiplication does not wait for the one before.
void Aead::absorb(const std::byte* blocks, size_t count) {
  const auto number = [](const std::byte* at) {
    const uint64_t low = word(at), high = word(at + 8);
    return Number{low & bits44, (low >> 44 | high << 20) & bits44, high >> 24 | top_bit};
  };
  const auto plus = [](const Number& a, const Number& b) {
    return Number{a.low + b.low, a.middle + b.middle, a.high + b.high};
  };
  Number sum = sum_;
  for (; count >= 2; count -= 2, blocks += 32) {
    Product<Number> product;
    product.add(plus(sum, number(blocks)), r2_);
    product.add(number(blocks + 16), r_);
    sum = product.reduced();
  }
  if (count > 0) sum = times(plus(sum, number(blocks)), r_);
  sum_ = sum;
}

void Aead::authenticate(std::span<const std::byte> piece) {
  if (filled_ > 0) {
    const size_t count = std::min(partial_.size() - filled_, piece.size());
    std::copy_n(piece.begin(), count, partial_.begin() + static_cast<ptrdiff_t>(filled_));
    filled_ += count;
    piece = piece.subspan(count);
    if (filled_ < partial_.size()) return;
    absorb(partial_.data(), 1);
    filled_ = 0;
  }
  absorb(piece.data(), piece.size() / 16);
  const std::span<const std::byte> rest = piece.subspan(piece.size() / 16 * 16);
  std::ranges::copy(rest, partial_.begin());
  filled_ = rest.size();
}

// With zeros up to a whole block.
void Aead::pad() {
  if (filled_ == 0) return;
  std::fill(partial_.begin() + static_cast<ptrdiff_t>(filled_), partial_.end(), std::byte{});
  absorb(partial_.data(), 1);
  filled_ = 0;
}

AeadTag Aead::tag() {
  pad();
  const uint64_t lengths[] = {additional_bytes_, bytes_};
  absorb(reinterpret_cast<const std::byte*>(lengths), 1);
  // Modulo 2^130 - 5, without a branch on the value.
  const auto carried = [](Number a) {
    a.high += a.middle >> 44, a.middle &= bits44;
    a.low += (a.high >> 42) * 5, a.high &= bits42;
    a.middle += a.low >> 44, a.low &= bits44;
    return a;
  };
  const Number sum = carried(carried(sum_));
  Number less{sum.low + 5, sum.middle, sum.high};
  less.middle += less.low >> 44, less.low &= bits44;
  less.high += less.middle >> 44, less.middle &= bits44;
  less.high -= bits42 + 1;
  const uint64_t fits = (less.high >> 63) - 1;  // all ones if the sum is not less than the modulus
  const auto choose = [&](uint64_t a, uint64_t b) { return (a & ~fits) | (b & fits); };
  const uint64_t low = choose(sum.low, less.low), middle = choose(sum.middle, less.middle),
                 high = choose(sum.high, less.high);
  const Wide value = (Wide{middle >> 20 | high << 24} << 64 | (low | middle << 44)) + (Wide{mask_[1]} << 64 | mask_[0]);
  AeadTag out;
  std::memcpy(out.data(), &value, sizeof out);
  return out;
}

}  // namespace longhand
