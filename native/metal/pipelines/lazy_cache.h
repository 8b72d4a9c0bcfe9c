// Values by key, each made once. A caller waits only for a value that another thread is making.
#pragma once

#include <condition_variable>
#include <map>
#include <mutex>
#include <set>
#include <string>

namespace longhand::metal {

template <class Value>
class LazyCache {
 public:
  // `make` runs without the lock. If it throws, nothing is stored and the next caller tries again.
  template <class Make>
  Value get(const std::string& key, const Make& make) {
    std::unique_lock lock(mutex_);
    for (;;) {
      if (const auto found = values_.find(key); found != values_.end()) return found->second;
      if (making_.insert(key).second) break;
      changed_.wait(lock);
    }
    const Leave leave{*this, lock, key};
    lock.unlock();
    Value made = make();
    lock.lock();
    return values_[key] = made;
  }
  void clear() {
    const std::lock_guard lock(mutex_);
    values_.clear();
  }

 private:
  struct Leave {
    LazyCache& all;
    std::unique_lock<std::mutex>& lock;
    const std::string& key;
    ~Leave() {
      if (!lock.owns_lock()) lock.lock();
      all.making_.erase(key);
      all.changed_.notify_all();
    }
  };

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, Value> values_;
  std::set<std::string> making_;
};

}  // namespace longhand::metal
