#include "engine/prompt_cache/entry_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

namespace longhand {

namespace {

constexpr char magic[] = "LHPROMPT";

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

}  // namespace

// Not fsynced: a file damaged by a power failure does not pass its checksums.
bool write_entry(const std::filesystem::path& path, const EntryOrigin& origin, const EntryName& name,
                 std::span<const int32_t> tokens, std::span<const std::byte> bytes) {
  EntryHead head{{},           origin.build, origin.model, tokens.size(),
                 bytes.size(), name.high,    name.low,     checksum(tokens, bytes)};
  std::memcpy(head.magic, magic, sizeof head.magic);
  head.head = checksum(head);
  const std::filesystem::path part = path.string() + ".part";
  bool whole = false;
  {
    File file(part, O_WRONLY | O_CREAT | O_TRUNC);
    whole = file.is_open() && file.write(bytes_of(head)) && file.write(std::as_bytes(tokens)) && file.write(bytes);
  }
  if (whole && ::rename(part.c_str(), path.c_str()) == 0) return true;
  ::unlink(part.c_str());
  return false;
}

bool read_entry(const std::filesystem::path& path, const EntryOrigin& origin, const EntryName& name,
                std::span<const int32_t> tokens, std::span<std::byte> into) {
  File file(path, O_RDONLY);
  EntryHead head;
  if (!file.is_open() || !file.read(bytes_of(head))) return false;
  if (std::memcmp(head.magic, magic, sizeof head.magic) != 0 || head.head != checksum(head)) return false;
  if (head.build != origin.build || head.model != origin.model || head.tokens != tokens.size() ||
      head.bytes != into.size() || EntryName{head.name_high, head.name_low} != name)
    return false;
  if (file.size() != sizeof head + tokens.size_bytes() + into.size()) return false;
  std::vector<int32_t> own(tokens.size());
  if (!file.read(std::as_writable_bytes(std::span(own))) || !std::equal(own.begin(), own.end(), tokens.begin()))
    return false;
  return file.read(into) && checksum(tokens, into) == head.content;
}

}  // namespace longhand
