// Stand-in for <dispatch/dispatch.h>: sources of memory pressure, which tests raise.
#pragma once
#import <Foundation/Foundation.h>
typedef id dispatch_queue_t; typedef id dispatch_source_t; typedef void (^dispatch_block_t)(void);
typedef const struct dispatch_source_type_s* dispatch_source_type_t;
FOUNDATION_EXPORT const struct dispatch_source_type_s _dispatch_source_type_memorypressure;
#define DISPATCH_SOURCE_TYPE_MEMORYPRESSURE (&_dispatch_source_type_memorypressure)
enum { DISPATCH_MEMORYPRESSURE_NORMAL = 0x01, DISPATCH_MEMORYPRESSURE_WARN = 0x02, DISPATCH_MEMORYPRESSURE_CRITICAL = 0x04 };
typedef enum : unsigned int { QOS_CLASS_UTILITY = 0x11 } qos_class_t;
FOUNDATION_EXPORT dispatch_queue_t dispatch_get_global_queue(intptr_t quality, uintptr_t flags);
FOUNDATION_EXPORT dispatch_source_t dispatch_source_create(dispatch_source_type_t type, uintptr_t handle, uintptr_t mask, dispatch_queue_t queue) NS_RETURNS_RETAINED;
FOUNDATION_EXPORT void dispatch_source_set_event_handler(dispatch_source_t source, dispatch_block_t handler);
FOUNDATION_EXPORT void dispatch_activate(dispatch_source_t source); FOUNDATION_EXPORT void dispatch_source_cancel(dispatch_source_t source);
