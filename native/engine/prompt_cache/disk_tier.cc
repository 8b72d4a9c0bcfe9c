#include "engine/prompt_cache/disk_tier.h"

#include <sys/stat.h>
#include <sys/statvfs.h>

#include <algorithm>

namespace longhand {

namespace fs = std::filesystem;

namespace {

// Limits how much waits for a slow disk, because it occupies memory.
constexpr uint64_t most_waiting = 128'000'000;
// Disk space that is left free for everything else, such as the chats.
constexpr uint64_t least_free = uint64_t{1} << 30;
constexpr const char* part_ending = ".part";

std::string hex(uint64_t number) { return EntryName{number, 0}.text().substr(0, 16); }

bool is_hex(const std::string& name, size_t length) {
  return name.size() == length && name.find_first_not_of("0123456789abcdef") == std::string::npos;
}

void make_folder(const fs::path& path) {
  if (path.has_parent_path() && !fs::exists(path.parent_path())) make_folder(path.parent_path());
  ::mkdir(path.c_str(), 0700);
}

// On a small disk only a share of it, so that the cache can be used there too.
bool has_room(const fs::path& folder, uint64_t bytes) {
  struct statvfs disk{};
  if (::statvfs(folder.c_str(), &disk) != 0) return false;
  const uint64_t block = disk.f_frsize, spared = std::min(least_free, disk.f_blocks * block / 16);
  return disk.f_bavail * block >= bytes + spared;
}

// All folders in `path`; none if it cannot be read.
std::vector<fs::path> folders_in(const fs::path& path) {
  std::vector<fs::path> out;
  std::error_code error;
  for (fs::directory_iterator at(path, error), end; !error && at != end; at.increment(error)) {
    if (at->is_directory(error) && !at->is_symlink(error)) out.push_back(at->path());
  }
  return out;
}

}  // namespace

DiskTier::DiskTier(fs::path folder, uint64_t budget, EntryOrigin origin, std::shared_ptr<const StoreKey> key)
    : folder_(std::move(folder)),
      origin_(origin),
      secret_(std::move(key)),
      build_(hex(secret_ ? secret_->hidden({origin.build, 0}).high : origin.build)),
      model_(hex(origin.model)),
      budget_(budget) {
  sweep();
  for (const fs::path& model : folders_in(folder_ / build_)) look(model);
  make_room(0);
  thread_ = std::thread([this] { write_jobs(); });
}

DiskTier::~DiskTier() {
  {
    const std::lock_guard lock(lock_);
    stop_ = true;
    changed_.notify_all();
  }
  thread_.join();
}

bool DiskTier::is_at(const fs::path& folder, const StoreKey* key) const {
  return folder_ == folder && (secret_ ? key && *secret_ == *key : !key);
}

// Rows and states have names of their own, so that one is never taken for the other.
EntryName DiskTier::on_disk(const EntryName& name, EntryKind kind) const {
  return secret_ ? secret_->hidden({name.high, name.low ^ static_cast<uint64_t>(kind)}) : name;
}

std::string DiskTier::key_of(const EntryName& name, EntryKind kind) const {
  return model_ + "/" + on_disk(name, kind).text() + (kind == EntryKind::rows ? ".rows" : ".states");
}

// Results of another build may differ in their bits; what another key encrypted cannot be read.
void DiskTier::sweep() {
  for (const fs::path& build : folders_in(folder_)) {
    std::error_code error;
    if (is_hex(build.filename().string(), build_.size()) && build.filename() != build_) fs::remove_all(build, error);
  }
}

void DiskTier::look(const fs::path& model) {
  for (const fs::path& owner : folders_in(model)) {
    std::error_code error;
    for (fs::directory_iterator at(owner, error), end; !error && at != end; at.increment(error)) {
      const std::string key = model.filename().string() + "/" + at->path().filename().string();
      const Entry entry{at->path(), at->file_size(error), at->last_write_time(error)};
      if (error || at->path().extension() == part_ending || !entries_.emplace(key, entry).second) {
        fs::remove(at->path(), error);
        continue;
      }
      bytes_ += entry.bytes;
      last_ = std::max(last_, entry.time);
    }
  }
}

void DiskTier::set_budget(uint64_t bytes) {
  const std::lock_guard lock(lock_);
  budget_ = bytes;
  make_room(0);
}

uint64_t DiskTier::budget() const {
  const std::lock_guard lock(lock_);
  return budget_;
}

uint64_t DiskTier::bytes() const {
  const std::lock_guard lock(lock_);
  return bytes_;
}

// ---- reading ------------------------------------------------------------------------------------------------------

const DiskTier::Job* DiskTier::waiting(const std::string& key) const {
  const auto found = std::ranges::find(waiting_, key, &Job::key);
  return found == waiting_.end() ? nullptr : &*found;
}

bool DiskTier::has(const EntryName& name, EntryKind kind) const {
  const std::lock_guard lock(lock_);
  return entries_.contains(key_of(name, kind));
}

bool DiskTier::get(const EntryName& name, EntryKind kind, std::span<const int32_t> tokens, std::span<std::byte> into) {
  const std::string key = key_of(name, kind);
  fs::path path;
  {
    const std::lock_guard lock(lock_);
    const auto found = entries_.find(key);
    if (found == entries_.end()) return false;
    path = found->second.path;
  }
  if (read_entry(path, origin_, secret_.get(), on_disk(name, kind), tokens, into)) return true;
  const std::lock_guard lock(lock_);
  remove(key);
  return false;
}

// Later than all earlier times, even if the clock was set back.
DiskTier::Time DiskTier::now() {
  last_ = std::max(Time::clock::now(), last_ + std::chrono::microseconds(1));
  return last_;
}

void DiskTier::used(std::span<const EntryName> way) {
  const std::lock_guard lock(lock_);
  for (size_t i = way.size(); i-- > 0;) {
    for (const EntryKind kind : {EntryKind::states, EntryKind::rows}) {
      const std::string key = key_of(way[i], kind);
      if (const auto entry = entries_.find(key); entry != entries_.end()) {
        std::error_code error;
        entry->second.time = now();
        fs::last_write_time(entry->second.path, entry->second.time, error);
      } else if (const auto job = std::ranges::find(waiting_, key, &Job::key); job != waiting_.end()) {
        job->time = now();
      }
    }
  }
}

// ---- writing ------------------------------------------------------------------------------------------------------

void DiskTier::put(const EntryName& name, EntryKind kind, const std::string& owner, std::span<const int32_t> tokens,
                   BlobPtr bytes) {
  Job job{key_of(name, kind), owner, on_disk(name, kind), {}, std::move(bytes)};
  const std::lock_guard lock(lock_);
  const uint64_t size = job.bytes->size();
  if (size > budget_ || entries_.contains(job.key) || waiting(job.key)) return;
  if (!waiting_.empty() && waiting_bytes_ + size > most_waiting) return;
  job.tokens.assign(tokens.begin(), tokens.end());
  job.time = now();
  waiting_bytes_ += size;
  waiting_.push_back(std::move(job));
  changed_.notify_all();
}

void DiskTier::write_jobs() {
  std::unique_lock lock(lock_);
  for (;;) {
    changed_.wait(lock, [&] { return stop_ || !waiting_.empty(); });
    if (stop_) return;
    const Job& job = waiting_.front();  // stays in the queue until it is written
    const fs::path path = folder_ / build_ / model_ / job.owner / fs::path(job.key).filename();
    const uint64_t size = entry_size(job.tokens.size(), job.bytes->size(), secret_ != nullptr);
    make_room(size);
    const bool fits = bytes_ + size <= budget_;
    lock.unlock();
    const bool written = fits && write(job, path);
    lock.lock();
    if (written) {
      std::error_code error;
      fs::last_write_time(path, job.time, error);
      entries_[job.key] = {path, size, job.time};
      bytes_ += size;
    }
    waiting_bytes_ -= job.bytes->size();
    waiting_.pop_front();
    changed_.notify_all();
  }
}

bool DiskTier::write(const Job& job, const fs::path& path) {
  make_folder(path.parent_path());
  return has_room(path.parent_path(), job.bytes->size()) &&
         write_entry(path, origin_, secret_.get(), job.name, job.tokens, job.bytes->bytes());
}

void DiskTier::flush() {
  std::unique_lock lock(lock_);
  changed_.wait(lock, [&] { return stop_ || waiting_.empty(); });
}

// ---- making room --------------------------------------------------------------------------------------------------

void DiskTier::make_room(uint64_t bytes) {
  if (bytes_ + bytes <= budget_) return;
  std::vector<std::pair<Time, std::string>> oldest;
  for (const auto& [key, entry] : entries_) oldest.emplace_back(entry.time, key);
  std::ranges::sort(oldest);
  for (const auto& [time, key] : oldest) {
    if (bytes_ + bytes <= budget_) return;
    remove(key);
  }
}

void DiskTier::remove(const std::string& key) {
  const auto found = entries_.find(key);
  if (found == entries_.end()) return;
  std::error_code error;
  fs::remove(found->second.path, error);
  fs::remove(found->second.path.parent_path(), error);  // succeeds if it was the owner's last file
  bytes_ -= found->second.bytes;
  entries_.erase(found);
}

void DiskTier::erase(const std::string& owner) {
  std::unique_lock lock(lock_);
  const auto is_theirs = [&](const Job& job) { return owner.empty() || job.owner == owner; };
  // The first job is being written and can only be erased afterwards.
  for (size_t i = waiting_.size(); i-- > 1;) {
    if (!is_theirs(waiting_[i])) continue;
    waiting_bytes_ -= waiting_[i].bytes->size();
    waiting_.erase(waiting_.begin() + static_cast<ptrdiff_t>(i));
  }
  if (!waiting_.empty() && is_theirs(waiting_.front())) {
    const std::string first = waiting_.front().key;
    changed_.wait(lock, [&] { return stop_ || waiting_.empty() || waiting_.front().key != first; });
  }
  std::vector<std::string> gone;
  for (const auto& [key, entry] : entries_) {
    if (owner.empty() || entry.path.parent_path().filename() == owner) gone.push_back(key);
  }
  for (const std::string& key : gone) remove(key);
}

}  // namespace longhand
