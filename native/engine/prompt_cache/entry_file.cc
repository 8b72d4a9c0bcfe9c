#include "engine/prompt_cache/entry_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

namespace longhand {

namespace {

constexpr char magic[] = "LHPROMPT";
// What is encrypted or decrypted at a time: it stays in the processor's cache between that and the disk.
constexpr size_t piece_bytes = 64 * 1024;

uint64_t checksum(std::span<const int32_t> tokens, std::span<const std::byte> bytes) {
  return xxh64(bytes, xxh64(std::as_bytes(tokens)));
}

uint64_t checksum(const EntryHead& head) {
  return xxh64({reinterpret_cast<const std::byte*>(&head), offsetof(EntryHead, head)});
}

class File {
 public:
  File(const std::filesystem::path& path, int flags)
      : file_(::open(path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW, 0600)) {}
  ~File() {
    if (file_ >= 0) ::close(file_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  bool is_open() const { return file_ >= 0; }
  bool write(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const ssize_t done = ::write(file_, bytes.data(), bytes.size());
      if (done < 0 && errno == EINTR) continue;
      if (done <= 0) return false;
      bytes = bytes.subspan(static_cast<size_t>(done));
    }
    return true;
  }
  bool read(std::span<std::byte> bytes) {
    while (!bytes.empty()) {
      const ssize_t done = ::read(file_, bytes.data(), bytes.size());
      if (done < 0 && errno == EINTR) continue;
      if (done <= 0) return false;
      bytes = bytes.subspan(static_cast<size_t>(done));
    }
    return true;
  }
  uint64_t size() const {
    struct stat facts{};
    return ::fstat(file_, &facts) == 0 && S_ISREG(facts.st_mode) ? static_cast<uint64_t>(facts.st_size) : 0;
  }

 private:
  int file_;
};

template <class T>
std::span<std::byte> bytes_of(T& value) {
  return std::as_writable_bytes(std::span(&value, 1));
}

bool write_plain(File& file, std::span<const int32_t> tokens, std::span<const std::byte> bytes) {
  return file.write(std::as_bytes(tokens)) && file.write(bytes);
}

// Copies piece by piece: the entry is in use, and a second whole one would cost its memory again.
bool write_encrypted(File& file, Aead& aead, std::span<const int32_t> tokens, std::span<const std::byte> bytes) {
  std::vector<std::byte> copy(piece_bytes);
  for (std::span<const std::byte> rest : {std::as_bytes(tokens), bytes}) {
    while (!rest.empty()) {
      const std::span<std::byte> piece = std::span(copy).first(std::min(copy.size(), rest.size()));
      std::ranges::copy(rest.first(piece.size()), piece.begin());
      aead.encrypt(piece);
      if (!file.write(piece)) return false;
      rest = rest.subspan(piece.size());
    }
  }
  return file.write(aead.tag());
}

bool read_plain(File& file, std::span<const int32_t> tokens, std::vector<int32_t>& own, std::span<std::byte> into,
                uint64_t content) {
  return file.read(std::as_writable_bytes(std::span(own))) && std::ranges::equal(own, tokens) && file.read(into) &&
         checksum(tokens, into) == content;
}

// In place. The tokens are compared only once the tag is known to be right.
bool read_encrypted(File& file, Aead& aead, std::span<const int32_t> tokens, std::vector<int32_t>& own,
                    std::span<std::byte> into) {
  for (std::span<std::byte> rest : {std::as_writable_bytes(std::span(own)), into}) {
    while (!rest.empty()) {
      const std::span<std::byte> piece = rest.first(std::min(piece_bytes, rest.size()));
      if (!file.read(piece)) return false;
      aead.decrypt(piece);
      rest = rest.subspan(piece.size());
    }
  }
  AeadTag tag;
  return file.read(tag) && same_tag(tag, aead.tag()) && std::ranges::equal(own, tokens);
}

}  // namespace

uint64_t entry_size(size_t tokens, size_t bytes, bool encrypted) {
  return sizeof(EntryHead) + tokens * sizeof(int32_t) + bytes + (encrypted ? sizeof(AeadTag) : 0);
}

// Not fsynced: a file damaged by a power failure does not pass its checksums.
bool write_entry(const std::filesystem::path& path, const EntryOrigin& origin, const StoreKey* key,
                 const EntryName& name, std::span<const int32_t> tokens, std::span<const std::byte> bytes) {
  EntryHead head{{}, origin.build, origin.model, tokens.size(), bytes.size(), name.high, name.low};
  std::memcpy(head.magic, magic, sizeof head.magic);
  // 96 random bits: the same twice is not to be expected before some billions of files.
  if (key && !random_bytes(head.nonce)) return false;
  head.encrypted = key ? 1 : 0;
  head.content = key ? 0 : checksum(tokens, bytes);
  head.head = checksum(head);
  const std::filesystem::path part = path.string() + ".part";
  bool whole = false;
  {
    File file(part, O_WRONLY | O_CREAT | O_TRUNC);
    whole = file.is_open() && file.write(bytes_of(head));
    if (whole && key) {
      Aead aead(key->contents(), head.nonce, bytes_of(head));
      whole = write_encrypted(file, aead, tokens, bytes);
    } else if (whole) {
      whole = write_plain(file, tokens, bytes);
    }
  }
  if (whole && ::rename(part.c_str(), path.c_str()) == 0) return true;
  ::unlink(part.c_str());
  return false;
}

bool read_entry(const std::filesystem::path& path, const EntryOrigin& origin, const StoreKey* key,
                const EntryName& name, std::span<const int32_t> tokens, std::span<std::byte> into) {
  File file(path, O_RDONLY);
  EntryHead head;
  if (!file.is_open() || !file.read(bytes_of(head))) return false;
  if (std::memcmp(head.magic, magic, sizeof head.magic) != 0 || head.head != checksum(head)) return false;
  if (head.build != origin.build || head.model != origin.model || head.tokens != tokens.size() ||
      head.bytes != into.size() || EntryName{head.name_high, head.name_low} != name ||
      head.encrypted != (key ? 1u : 0u))
    return false;
  if (file.size() != entry_size(tokens.size(), into.size(), key != nullptr)) return false;
  std::vector<int32_t> own(tokens.size());
  if (!key) return read_plain(file, tokens, own, into, head.content);
  Aead aead(key->contents(), head.nonce, bytes_of(head));
  return read_encrypted(file, aead, tokens, own, into);
}

}  // namespace longhand
