#include "engine/machine/available_memory.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

#ifdef __APPLE__
#include <mach/mach.h>
#endif

namespace longhand {

namespace {

constexpr uint64_t unlimited = std::numeric_limits<uint64_t>::max();

#ifdef __APPLE__
uint64_t machine() {
  vm_statistics64_data_t pages{};
  mach_msg_type_number_t count = HOST_VM_INFO64_COUNT;
  if (host_statistics64(mach_host_self(), HOST_VM_INFO64, reinterpret_cast<host_info64_t>(&pages), &count) !=
      KERN_SUCCESS) {
    return unlimited;
  }
  vm_size_t page = 0;
  host_page_size(mach_host_self(), &page);
  // Free, purgeable and file-backed pages are available without swapping.
  return (uint64_t{pages.free_count} + pages.purgeable_count + pages.external_page_count) * page;
}
uint64_t control_group() { return unlimited; }
#else
uint64_t machine() {
  std::ifstream file("/proc/meminfo");
  for (std::string key; file >> key;) {
    uint64_t kilobytes = 0;
    if (key == "MemAvailable:" && file >> kilobytes) return kilobytes * 1024;
    file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return unlimited;
}

uint64_t read_number(const char* path) {
  std::ifstream file(path);
  uint64_t number = 0;
  return file >> number ? number : unlimited;  // "max" means no limit
}

// The value of a key in a list of "key number" lines; 0 if absent.
uint64_t read_entry(const char* path, const std::string& wanted) {
  std::ifstream file(path);
  uint64_t number = 0;
  for (std::string key; file >> key >> number;) {
    if (key == wanted) return number;
  }
  return 0;
}

struct ControlGroup {
  const char *limit, *used, *statistics, *file_pages;
};
constexpr ControlGroup versions[] = {
    {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current", "/sys/fs/cgroup/memory.stat", "file"},
    {"/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes",
     "/sys/fs/cgroup/memory/memory.stat", "total_cache"},
};

// The page cache counts as used there, but is freed when memory is requested.
uint64_t control_group() {
  for (const ControlGroup& group : versions) {
    const uint64_t limit = read_number(group.limit), used = read_number(group.used);
    if (limit == unlimited || used == unlimited) continue;
    const uint64_t held = used - std::min(used, read_entry(group.statistics, group.file_pages));
    return limit > held ? limit - held : 0;
  }
  return unlimited;
}
#endif

}  // namespace

uint64_t available_memory() { return std::min(machine(), control_group()); }

}  // namespace longhand
