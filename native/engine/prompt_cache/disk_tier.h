// The part of the prompt cache on disk, which survives a restart. A background thread writes the entries; a missing or
// damaged file is only a cache miss.
//
//   <folder>/<build>/<model>/<owner>/<name>.rows     keys and values of a stretch of tokens
//                                    <name>.states   states after it
//
// The owner is the chat that created an entry, so that it can be erased with the chat; any prompt that begins with the
// same tokens can use it. Only the user can read the files (0600 in 0700). With a key they are encrypted, and the names
// of build and entries are hidden too. What is there for another key, or for none, counts as another build's.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "engine/prompt_cache/entry_file.h"

namespace longhand {

enum class EntryKind : uint8_t { rows, states };

class DiskTier {
 public:
  // Deletes entries of other builds and incomplete files. Throws nothing: if the folder cannot be used, the tier is
  // empty. `key`: null for entries that are not encrypted.
  DiskTier(std::filesystem::path folder, uint64_t budget, EntryOrigin origin, std::shared_ptr<const StoreKey> key);
  ~DiskTier();  // drops jobs that have not been written
  DiskTier(const DiskTier&) = delete;
  DiskTier& operator=(const DiskTier&) = delete;

  // Any thread.
  bool is_at(const std::filesystem::path& folder, const StoreKey* key) const;
  void set_budget(uint64_t bytes);
  uint64_t budget() const;
  uint64_t bytes() const;
  // Erases the owner's entries, or with "" all entries of all models. They are gone when this returns.
  void erase(const std::string& owner);
  // Waits until all jobs are written.
  void flush();

  // The worker.
  bool has(const EntryName& name, EntryKind kind) const;
  // Queues an entry. It is ignored if it exists or is queued already, or if the queue is full.
  void put(const EntryName& name, EntryKind kind, const std::string& owner, std::span<const int32_t> tokens,
           BlobPtr bytes);
  // Returns false if there is no valid entry; an invalid one is deleted.
  bool get(const EntryName& name, EntryKind kind, std::span<const int32_t> tokens, std::span<std::byte> into);
  // Marks a path from the first boundary as used; entries that others build on are evicted last.
  void used(std::span<const EntryName> way);

 private:
  using Path = std::filesystem::path;
  using Time = std::filesystem::file_time_type;
  struct Entry {
    Path path;
    uint64_t bytes = 0;
    Time time{};  // time of last use, also stored on disk
  };
  struct Job {
    std::string key, owner;
    EntryName name;  // on disk
    std::vector<int32_t> tokens;
    BlobPtr bytes;
    Time time{};
  };

  EntryName on_disk(const EntryName& name, EntryKind kind) const;
  std::string key_of(const EntryName& name, EntryKind kind) const;
  void sweep();
  void look(const Path& model);
  void write_jobs();
  bool write(const Job& job, const Path& path);
  // Call with the lock held.
  const Job* waiting(const std::string& key) const;
  Time now();
  void make_room(uint64_t bytes);
  void remove(const std::string& key);

  const Path folder_;
  const EntryOrigin origin_;
  const std::shared_ptr<const StoreKey> secret_;
  const std::string build_, model_;  // folder names

  mutable std::mutex lock_;  // guards all members below
  std::condition_variable changed_;
  uint64_t budget_, bytes_ = 0, waiting_bytes_ = 0;
  Time last_{};
  std::map<std::string, Entry> entries_;  // by "<model>/<name>.<kind>"
  std::deque<Job> waiting_;               // the first one is being written
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace longhand
