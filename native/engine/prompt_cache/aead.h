// Authenticated encryption: ChaCha20-Poly1305 of RFC 8439, a message in pieces of any length.
//
// Our own, because no library is at hand: Electron keeps its crypto library to itself and leaves this cipher out of
// Node's `crypto`, and an addon that brought OpenSSL along would be ten times as large.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace longhand {

// Overwrites secrets before their memory is given back; the compiler does not leave it out.
void wipe(void* secret, size_t bytes);

// Fills it from the system's generator. Returns false if there is none.
bool random_bytes(std::span<std::byte> out);

// 256 bits, wiped with their owner.
struct AeadKey {
  std::array<uint32_t, 8> words{};

  AeadKey() = default;
  explicit AeadKey(std::span<const std::byte, 32> bytes);
  AeadKey(const AeadKey&) = delete;
  AeadKey& operator=(const AeadKey&) = delete;
  ~AeadKey() { wipe(words.data(), sizeof words); }
};

using AeadNonce = std::array<std::byte, 12>;  // never twice with one key
using AeadTag = std::array<std::byte, 16>;

// Takes the same time wherever they differ.
bool same_tag(const AeadTag& a, const AeadTag& b);

// One block of ChaCha20. `input` is what RFC 8439 calls the counter and the nonce. To whoever lacks the key it is a
// random function of the input.
std::array<uint32_t, 16> chacha20_block(const AeadKey& key, const std::array<uint32_t, 4>& input);

class Aead {
 public:
  // `additional` is authenticated and not encrypted.
  Aead(const AeadKey& key, const AeadNonce& nonce, std::span<const std::byte> additional);
  Aead(const Aead&) = delete;
  Aead& operator=(const Aead&) = delete;
  ~Aead();

  // In place. A message is either encrypted or decrypted, at most 256 GB of it. What was decrypted is only to be used
  // once the tag is the expected one.
  void encrypt(std::span<std::byte> piece);
  void decrypt(std::span<std::byte> piece);
  // Ends the message.
  AeadTag tag();

 private:
  // A number below 2^132 in limbs of 44, 44 and 42 bits.
  struct Number {
    uint64_t low = 0, middle = 0, high = 0;
  };

  void apply_stream(std::span<std::byte> piece);
  void authenticate(std::span<const std::byte> piece);
  void pad();
  void absorb(const std::byte* blocks, size_t count);
  static Number times(const Number& a, const Number& b);

  std::array<uint32_t, 16> state_;
  std::array<std::byte, 64> stream_;  // the last block; its last `left_` bytes have not been used
  size_t left_ = 0;
  Number r_, r2_, sum_;  // the point of Poly1305, its square, and the polynomial so far
  std::array<uint64_t, 2> mask_;
  std::array<std::byte, 16> partial_;  // `filled_` bytes of a block of Poly1305
  size_t filled_ = 0;
  uint64_t additional_bytes_, bytes_ = 0;
};

}  // namespace longhand
