// What was read, on disk: it outlives the process. A thread of its own writes entries behind the model's back; nothing
// that happens to a file is more than a miss.
//
//   <folder>/<build>/<model>/<owner>/<name>.rows     keys and values of a stretch of tokens
//                                    <name>.states   states after it
//
// The owner is the chat that made an entry, so that it can be erased with the chat; whoever begins with the same tokens
// reads it. Files are their user's alone (0600 in 0700).
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <filesystem>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "engine/prompt_cache/entry_file.h"

namespace longhand {

enum class EntryKind : uint8_t { rows, states };

class DiskTier {
 public:
  // Deletes what other builds have left, and what was half written. Throws nothing: where the folder cannot be used
  // nothing is found in it.
  DiskTier(std::filesystem::path folder, uint64_t budget, EntryOrigin origin);
  ~DiskTier();  // what is waiting is not written any more
  DiskTier(const DiskTier&) = delete;
  DiskTier& operator=(const DiskTier&) = delete;

  // Any thread.
  const std::filesystem::path& folder() const { return folder_; }
  void set_budget(uint64_t bytes);
  uint64_t budget() const;
  uint64_t bytes() const;
  // What is of an owner; "" stands for all of every model. It is gone when this returns.
  void erase(const std::string& owner);
  // Until everything that waits is written.
  void flush();

  // The worker.
  bool has(const EntryName& name, EntryKind kind) const;
  // To be written. What is there or waits already, or would make too much wait, is not taken.
  void put(const EntryName& name, EntryKind kind, const std::string& owner, std::span<const int32_t> tokens,
           BlobPtr bytes);
  // False where there is none, or none to be trusted: that is deleted.
  bool get(const EntryName& name, EntryKind kind, std::span<const int32_t> tokens, std::span<std::byte> into);
  // A way from the first boundary on: what others stand on goes last.
  void used(std::span<const EntryName> way);

 private:
  using Path = std::filesystem::path;
  using Time = std::filesystem::file_time_type;
  struct Entry {
    Path path;
    uint64_t bytes = 0;
    Time time{};  // when it was used last, also on disk
  };
  struct Job {
    std::string key, owner;
    EntryName name;
    std::vector<int32_t> tokens;
    BlobPtr bytes;
    Time time{};
  };

  std::string key_of(const EntryName& name, EntryKind kind) const { return model_ + "/" + file_name(name, kind); }
  static std::string file_name(const EntryName& name, EntryKind kind);
  void sweep();
  void look(const Path& model);
  void write_jobs();
  bool write(const Job& job, const Path& path);
  // With the lock.
  const Job* waiting(const std::string& key) const;
  Time now();
  void make_room(uint64_t bytes);
  void remove(const std::string& key);

  const Path folder_;
  const EntryOrigin origin_;
  const std::string build_, model_;  // names of folders

  mutable std::mutex lock_;  // of everything below
  std::condition_variable changed_;
  uint64_t budget_, bytes_ = 0, waiting_bytes_ = 0;
  Time last_{};
  std::map<std::string, Entry> entries_;  // by "<model>/<name>.<kind>"
  std::deque<Job> waiting_;               // the first is being written
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace longhand
