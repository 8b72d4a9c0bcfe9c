// What is used of Mach's calls about memory.
#pragma once
#include <stdint.h>
extern "C" {
typedef int kern_return_t, host_flavor_t, integer_t;
typedef unsigned int mach_port_t, mach_msg_type_number_t, natural_t;
typedef mach_port_t host_t;
typedef integer_t* host_info64_t;
typedef uintptr_t vm_size_t;
struct vm_statistics64 {
  natural_t free_count, active_count, inactive_count, wire_count;
  uint64_t zero_fill_count, reactivations, pageins, pageouts, faults, cow_faults, lookups, hits, purges;
  natural_t purgeable_count, speculative_count;
  uint64_t decompressions, compressions, swapins, swapouts;
  natural_t compressor_page_count, throttled_count, external_page_count, internal_page_count;
  uint64_t total_uncompressed_pages_in_compressor;
};
typedef struct vm_statistics64 vm_statistics64_data_t;
mach_port_t mach_host_self(void);
kern_return_t host_statistics64(host_t, host_flavor_t, host_info64_t, mach_msg_type_number_t*);
kern_return_t host_page_size(host_t, vm_size_t*);
}
#define KERN_SUCCESS 0
#define HOST_VM_INFO64 4
#define HOST_VM_INFO64_COUNT ((mach_msg_type_number_t)(sizeof(vm_statistics64_data_t) / sizeof(integer_t)))
