// A whole file mapped read-only, without a copy: the OS drops and fetches its pages.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace longhand {

class MappedFile {
 public:
  // Throws FormatError "[where] ..." when `path` is no readable regular file. An empty file maps to an empty span.
  MappedFile(std::string path, const std::string& where);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&&) = delete;
  ~MappedFile();

  const std::string& path() const { return path_; }
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::string path_;
  std::span<const std::byte> bytes_;
};

// The whole pages inside `part` of a mapped file are no longer needed; they come back from disk when touched again.
void release_pages(std::span<const std::byte> part);

// A small text file (config.json, an index), at most `limit` bytes.
std::string read_text(const std::string& path, const std::string& where, size_t limit);

}  // namespace longhand
