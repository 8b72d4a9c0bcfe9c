// What a model and its sessions give back when the system runs short of memory: nothing that cannot be made again. The
// system's word comes from any thread; it is followed by the worker, inside a turn before the next pass.
#pragma once

#include <atomic>
#include <mutex>
#include <set>

namespace longhand {

class Backend;
class Session;

class Relief {
 public:
  explicit Relief(Backend& backend) : backend_(&backend) {}

  // Any thread.
  void ask(bool critical);

  void add(Session* session);
  void remove(Session* session);
  void end();  // the back end goes away
  // The worker, where nobody needs the results of a pass that is over.
  void follow();

 private:
  enum Wanted : int { nothing, some, most };

  std::atomic<int> wanted_{nothing};
  std::mutex lock_;  // of what follows
  Backend* backend_;
  std::set<Session*> sessions_;
};

}  // namespace longhand
