// Apple's libdispatch, as far as it is used (Apache-2.0: swift-corelibs-libdispatch, dispatch/source.h and queue.h).
#pragma once
#include <stdint.h>
@protocol NSObject;
@protocol OS_dispatch_source
@end
@protocol OS_dispatch_queue
@end
typedef id<OS_dispatch_source> dispatch_source_t;
typedef id<OS_dispatch_queue> dispatch_queue_t;
typedef void (^dispatch_block_t)(void);
typedef const struct dispatch_source_type_s* dispatch_source_type_t;
extern "C" {
extern const struct dispatch_source_type_s _dispatch_source_type_memorypressure;
dispatch_source_t dispatch_source_create(dispatch_source_type_t, uintptr_t, uintptr_t, dispatch_queue_t)
    __attribute__((ns_returns_retained));
dispatch_queue_t dispatch_get_global_queue(intptr_t, uintptr_t);
void dispatch_source_set_event_handler(dispatch_source_t, dispatch_block_t);
void dispatch_source_cancel(dispatch_source_t);
void dispatch_activate(id);
}
#define DISPATCH_SOURCE_TYPE_MEMORYPRESSURE (&_dispatch_source_type_memorypressure)
#define DISPATCH_MEMORYPRESSURE_WARN 0x02
#define DISPATCH_MEMORYPRESSURE_CRITICAL 0x04
#define QOS_CLASS_UTILITY 0x11
