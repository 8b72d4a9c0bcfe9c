#include "formats/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "formats/error.h"
#include "formats/utf8.h"

namespace longhand {
namespace {

class Descriptor {
 public:
  // O_NONBLOCK: opening a named pipe must not wait for a writer.
  Descriptor(const std::string& path, const std::string& where)
      : number_(path.find('\0') == std::string::npos ? ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)
                                                     : (errno = EINVAL, -1)) {
    if (number_ < 0) throw FormatError("[" + where + "] cannot open " + printable(path) + ": " + std::strerror(errno));
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { ::close(number_); }
  int number() const { return number_; }

 private:
  int number_;
};

size_t regular_size(const Descriptor& file, const std::string& path, const std::string& where) {
  struct stat facts{};
  if (::fstat(file.number(), &facts) != 0)
    throw FormatError("[" + where + "] cannot read " + printable(path) + ": " + std::strerror(errno));
  if (!S_ISREG(facts.st_mode)) throw FormatError("[" + where + "] " + printable(path) + " is not a regular file");
  return static_cast<size_t>(facts.st_size);
}

}  // namespace

MappedFile::MappedFile(std::string path, const std::string& where) : path_(std::move(path)) {
  const Descriptor file(path_, where);
  const size_t size = regular_size(file, path_, where);
  if (size == 0) return;
  // MAP_SHARED: the GPU must read the file's own pages in place, not copy-on-write ones.
  void* const base = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, file.number(), 0);
  if (base == MAP_FAILED)
    throw OutOfMemory("[" + where + "] cannot map " + printable(path_) + " (" + std::to_string(size) +
                      " bytes): " + std::strerror(errno));
  bytes_ = {static_cast<const std::byte*>(base), size};
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : path_(std::move(other.path_)), bytes_(std::exchange(other.bytes_, {})) {}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

void release_pages(std::span<const std::byte> part) {
  const auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto first = (reinterpret_cast<uintptr_t>(part.data()) + page - 1) / page * page;
  const auto last = reinterpret_cast<uintptr_t>(part.data() + part.size()) / page * page;
  if (first < last) ::madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
}

std::string read_text(const std::string& path, const std::string& where, size_t limit) {
  const Descriptor file(path, where);
  const size_t size = regular_size(file, path, where);
  if (size > limit)
    throw FormatError("[" + where + "] " + printable(path) + " has " + std::to_string(size) + " bytes; at most " +
                      std::to_string(limit) + " are read");
  std::string text(size, '\0');
  size_t done = 0;
  while (done < size) {
    const ssize_t got = ::read(file.number(), text.data() + done, size - done);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0)
      throw FormatError("[" + where + "] cannot read " + printable(path) + ": " +
                        (got == 0 ? "it became shorter" : std::strerror(errno)));
    done += static_cast<size_t>(got);
  }
  return text;
}

}  // namespace longhand
