#include "cpu/weights/packed_cache.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <filesystem>
#include <new>
#include <system_error>

#include "formats/hash.h"

namespace longhand::cpu {

namespace {

namespace fs = std::filesystem;

constexpr char magic[] = "LHPANELS";
constexpr uint64_t first_weight = 4096, alignment = 64, piece = uint64_t{1} << 20;
// Minimum free disk space that is left for everything else, chats included.
constexpr uint64_t least_free = uint64_t{1} << 30;
constexpr uint64_t most_weights = uint64_t{1} << 20;

std::span<const std::byte> bytes_of(const auto& values) { return std::as_bytes(std::span(values)); }

// Hash of the sizes and times of the weight files, in sorted order. 0: they cannot be read.
uint64_t identity(const std::string& model) {
  std::vector<uint64_t> facts;
  std::error_code error;
  const auto add = [&](const fs::path& file) {
    const auto time = fs::last_write_time(file, error).time_since_epoch().count();
    const uint64_t one[] = {fs::file_size(file, error), static_cast<uint64_t>(time)};
    facts.push_back(xxh64(bytes_of(one)));
  };
  // One file of a split set (model-00001-of-00003.gguf) stands for all of them.
  const bool split = fs::path(model).filename().string().find("-of-") != std::string::npos;
  const bool folder = fs::is_directory(model, error);
  if (folder || split) {
    const fs::path where = folder ? fs::path(model) : fs::absolute(model, error).parent_path();
    for (fs::directory_iterator at(where, error), end; !error && at != end; at.increment(error)) {
      const fs::path extension = at->path().extension();
      if (extension == ".safetensors" || extension == ".gguf") add(at->path());
    }
  } else {
    add(model);
  }
  if (error) return 0;
  std::sort(facts.begin(), facts.end());
  return xxh64(bytes_of(facts));
}

// Hash of a tensor's name, form and a sample of its data, which tells apart files with equal sizes and times.
uint64_t key_of(const WeightView& view) {
  constexpr size_t samples = 16, sample = 64;
  uint64_t hash = xxh64(view.name, static_cast<uint64_t>(view.type));
  hash = xxh64(bytes_of(view.shape), hash);
  const GroupScales& a = view.affine;
  const uint64_t form[] = {static_cast<uint64_t>(a.bits), static_cast<uint64_t>(a.group),
                           static_cast<uint64_t>(a.scale_type)};
  hash = xxh64(bytes_of(form), hash);
  const auto look = [&](const std::byte* data, size_t bytes) {
    const size_t each = std::min(sample, bytes);
    for (size_t i = 0; i < samples; ++i) hash = xxh64({data + (bytes - each) / (samples - 1) * i, each}, hash);
  };
  look(view.data, view.data_bytes);
  if (a.group > 0 && a.scales) {
    const auto scales = static_cast<size_t>(view.elements() / a.group) * (a.scale_type == DType::f32  ? 4
                                                                          : a.scale_type == DType::u8 ? 1
                                                                                                      : 2);
    look(a.scales, scales);
    if (a.biases) look(a.biases, scales);
  }
  return hash;
}

// Whether the path is free or a regular file: a device or a link is never replaced.
bool may_stand_at(const std::string& path) {
  struct stat facts{};
  if (path.find('\0') != std::string::npos) return false;
  return ::lstat(path.c_str(), &facts) == 0 ? S_ISREG(facts.st_mode) : errno == ENOENT;
}

class MappedPart final : public Buffer {
 public:
  MappedPart(std::shared_ptr<const MappedFile> file, std::span<const std::byte> part)
      : file_(std::move(file)), part_(part) {}
  size_t bytes() const override { return part_.size(); }
  // For the address: the mapping is read-only.
  std::byte* host() override { return const_cast<std::byte*>(part_.data()); }

 private:
  std::shared_ptr<const MappedFile> file_;
  std::span<const std::byte> part_;
};

}  // namespace

// "<file>.part", held by a lock so that only one load writes it, until it gets its name.
class PackedCache::Writer {
 public:
  explicit Writer(const std::string& path) : path_(path), part_(path + ".part") {
    file_ = ::open(part_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    mine_ = file_ >= 0 && ::flock(file_, LOCK_EX | LOCK_NB) == 0 && is_still_there() && ::ftruncate(file_, 0) == 0;
  }
  ~Writer() {
    if (mine_ && !named_ && is_still_there()) ::unlink(part_.c_str());
    if (file_ >= 0) ::close(file_);
  }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  bool is_open() const { return mine_; }
  bool has_room(uint64_t bytes) const {
    struct statvfs disk{};
    return ::fstatvfs(file_, &disk) == 0 && static_cast<uint64_t>(disk.f_bavail) * disk.f_frsize >= bytes + least_free;
  }
  bool write(uint64_t offset, std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const ssize_t done = ::pwrite(file_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
      if (done < 0 && errno == EINTR) continue;
      if (done <= 0) return false;
      offset += static_cast<uint64_t>(done);
      bytes = bytes.subspan(static_cast<size_t>(done));
    }
    return true;
  }
  // Not fsynced: a file damaged by a power cut fails its checksums.
  bool name() { return named_ = is_still_there() && ::rename(part_.c_str(), path_.c_str()) == 0; }

 private:
  // The previous holder of the lock may have renamed the file since it was opened here, or it was deleted.
  bool is_still_there() const {
    struct stat held{}, named{};
    return ::fstat(file_, &held) == 0 && ::lstat(part_.c_str(), &named) == 0 && held.st_ino == named.st_ino &&
           held.st_dev == named.st_dev;
  }

  std::string path_, part_;
  int file_ = -1;
  bool mine_ = false, named_ = false;
};

PackedCache::PackedCache(std::string path, const std::string& model, uint64_t build, Threads& threads)
    : path_(std::move(path)), header_{.build = build, .model = identity(model)}, threads_(threads) {
  std::memcpy(header_.magic, magic, sizeof header_.magic);
  if (header_.model == 0 || !may_stand_at(path_)) return;
  try {
    open();
  } catch (const std::exception&) {
    file_.reset();  // missing or unreadable: written anew
  }
  if (file_) return;
  writer_ = std::make_unique<Writer>(path_);
  if (!writer_->is_open()) writer_.reset();
}

PackedCache::~PackedCache() {
  stop_ = true;
  if (thread_.joinable()) thread_.join();
}

void PackedCache::open() {
  const auto file = std::make_shared<const MappedFile>(path_, "packed");
  const std::span<const std::byte> bytes = file->bytes();
  if (bytes.size() < first_weight) return;
  Header header;
  std::memcpy(&header, bytes.data(), sizeof header);
  if (std::memcmp(header.magic, header_.magic, sizeof header.magic) != 0 || header.build != header_.build ||
      header.model != header_.model)
    return;
  if (header.count == 0 || header.count > most_weights || header.table > bytes.size() ||
      bytes.size() - header.table != header.count * sizeof(Entry))
    return;
  const auto table = bytes.subspan(header.table);
  if (xxh64(table) != header.checksum) return;
  for (uint64_t i = 0; i < header.count; ++i) {
    Entry entry;
    std::memcpy(&entry, table.data() + i * sizeof entry, sizeof entry);
    if (entry.offset % alignment != 0 || entry.offset > header.table || entry.bytes > header.table - entry.offset) {
      known_.clear();
      return;
    }
    known_[entry.key] = entry;
  }
  file_ = file;
}

// Of checksums of pieces, which the threads share; reading them also brings the pages in.
uint64_t PackedCache::checksum(std::span<const std::byte> bytes) {
  std::vector<uint64_t> sums((bytes.size() + piece - 1) / piece);
  threads_.run(static_cast<int64_t>(sums.size()), [&](int64_t i) {
    const size_t first = static_cast<size_t>(i) * piece;
    sums[static_cast<size_t>(i)] = xxh64(bytes.subspan(first, std::min<size_t>(piece, bytes.size() - first)));
  });
  return xxh64(bytes_of(sums));
}

BufferPtr PackedCache::find(const WeightView& view, size_t bytes) {
  if (!file_) return nullptr;
  const auto found = known_.find(key_of(view));
  if (found != known_.end() && found->second.bytes == bytes) {
    const auto part = file_->bytes().subspan(found->second.offset, bytes);
    if (checksum(part) == found->second.checksum) {
      state_ = PackedCacheStatus::read;
      return std::make_shared<MappedPart>(file_, part);
    }
  }
  distrust();
  return nullptr;
}

void PackedCache::distrust() {
  file_.reset();
  state_ = PackedCacheStatus::none;
  ::unlink(path_.c_str());
}

void PackedCache::add(const WeightView& view, BufferPtr packed) {
  if (!writer_) return;
  const uint64_t key = key_of(view);
  if (known_.emplace(key, Entry{}).second)
    pending_.push_back({key, std::move(packed)});  // otherwise one tensor is used twice
}

void PackedCache::complete() {
  file_.reset();
  if (!writer_ || pending_.empty()) {
    writer_.reset();
    return;
  }
  state_ = PackedCacheStatus::writing;
  try {
    thread_ = std::thread([this] {
      bool whole = false;
      try {
        whole = write();
      } catch (const std::bad_alloc&) {
        // no memory for the table: the cache is not written
      }
      writer_.reset();
      pending_.clear();
      state_ = whole ? PackedCacheStatus::written : PackedCacheStatus::none;
    });
  } catch (const std::system_error&) {
    state_ = PackedCacheStatus::none;
    writer_.reset();
  }
}

bool PackedCache::write() {
  std::vector<Entry> entries;
  uint64_t end = first_weight;
  for (const Pending& one : pending_) {
    Entry& entry = entries.emplace_back(Entry{.key = one.key, .offset = end});
    if (!write(entry, {one.packed->host(), one.packed->bytes()})) return false;
    end += (entry.bytes + alignment - 1) / alignment * alignment;
  }
  header_.table = end;
  header_.count = entries.size();
  header_.checksum = xxh64(bytes_of(entries));
  return writer_->write(header_.table, bytes_of(entries)) && writer_->write(0, bytes_of(std::span(&header_, 1))) &&
         writer_->name();
}

bool PackedCache::write(Entry& entry, std::span<const std::byte> bytes) {
  entry.bytes = bytes.size();
  if (!writer_->has_room(bytes.size())) return false;
  std::vector<uint64_t> sums;
  for (uint64_t at = 0; at < bytes.size(); at += piece) {
    const auto part = bytes.subspan(at, std::min<size_t>(piece, bytes.size() - at));
    sums.push_back(xxh64(part));
    if (stop_ || !writer_->write(entry.offset + at, part)) return false;
  }
  entry.checksum = xxh64(bytes_of(sums));
  return true;
}

}  // namespace longhand::cpu
