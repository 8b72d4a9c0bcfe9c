// A file of packed weights: the next load maps it instead of packing again. It is used only if it belongs to these
// model files and this build of the engine, and only the parts that pass their checksums; otherwise it is written anew,
// as
// "<file>.part", on a background thread after the load. Its failures never make a load fail.
//
//   Header | padding to 4096 | packed weights, each at a multiple of 64 | Entry [count]
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "cpu/threads/threads.h"
#include "formats/mapped_file.h"
#include "ops/tensor.h"
#include "ops/weight.h"

namespace longhand::cpu {

class PackedCache {
 public:
  struct Header {
    char magic[8];
    uint64_t build, model;            // identify the engine build and the model
    uint64_t table, count, checksum;  // of the entries
  };
  struct Entry {
    uint64_t key, offset, bytes, checksum;
  };

  // `model`: a file, or a folder of them.
  PackedCache(std::string path, const std::string& model, uint64_t build, Threads& threads);
  ~PackedCache();  // aborts writing
  PackedCache(const PackedCache&) = delete;
  PackedCache& operator=(const PackedCache&) = delete;

  // The `bytes` bytes that `view` was packed into; null if it has to be packed.
  BufferPtr find(const WeightView& view, size_t bytes);
  // Queues newly packed weights to be written for the next load.
  void add(const WeightView& view, BufferPtr packed);
  // Call after every weight was found or added; neither is called from here on.
  void complete();

  PackedCacheStatus state() const { return state_; }

 private:
  class Writer;

  void open();
  uint64_t checksum(std::span<const std::byte> bytes);
  void distrust();  // the file is not what it says: it goes, what was confirmed stays mapped
  bool write();     // on the thread
  bool write(Entry& entry, std::span<const std::byte> bytes);

  std::string path_;
  Header header_;
  Threads& threads_;
  std::shared_ptr<const MappedFile> file_;  // being read
  std::unordered_map<uint64_t, Entry> known_;
  struct Pending {
    uint64_t key;
    BufferPtr packed;
  };
  std::unique_ptr<Writer> writer_;  // to be written
  std::vector<Pending> pending_;
  std::thread thread_;
  std::atomic<bool> stop_{false};
  std::atomic<PackedCacheStatus> state_{PackedCacheStatus::none};
};

}  // namespace longhand::cpu
