#include "metal/device/memory_pressure.h"

#import <Foundation/Foundation.h>
#include <dispatch/dispatch.h>

#include <mutex>

namespace longhand::metal {

namespace {

// A handler may still run while its source is being cancelled: the listener is null then.
struct Listener {
  std::mutex lock;
  std::function<void(bool critical)> told;

  void tell(bool critical) {
    const std::lock_guard guard(lock);
    if (told) told(critical);
  }
};

dispatch_source_t listen(const std::shared_ptr<Listener>& listener, uintptr_t level) {
  dispatch_source_t source = dispatch_source_create(DISPATCH_SOURCE_TYPE_MEMORYPRESSURE, 0, level,
                                                    dispatch_get_global_queue(QOS_CLASS_UTILITY, 0));
  if (!source) return nil;
  const std::shared_ptr<Listener> told = listener;
  dispatch_source_set_event_handler(source, ^{
    told->tell(level == DISPATCH_MEMORYPRESSURE_CRITICAL);
  });
  dispatch_activate(source);
  return source;
}

}  // namespace

struct Pressure::Objects {
  std::shared_ptr<Listener> listener = std::make_shared<Listener>();
  dispatch_source_t warning, critical;
};

Pressure::Pressure(std::function<void(bool critical)> told) : objects_(std::make_unique<Objects>()) {
  @autoreleasepool {
    objects_->listener->told = std::move(told);
    objects_->warning = listen(objects_->listener, DISPATCH_MEMORYPRESSURE_WARN);
    objects_->critical = listen(objects_->listener, DISPATCH_MEMORYPRESSURE_CRITICAL);
  }
}

Pressure::~Pressure() {
  for (dispatch_source_t source : {objects_->warning, objects_->critical})
    if (source) dispatch_source_cancel(source);
  const std::lock_guard guard(objects_->listener->lock);
  objects_->listener->told = nullptr;
}

}  // namespace longhand::metal
