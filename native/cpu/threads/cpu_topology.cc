#include "cpu/threads/cpu_topology.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <set>
#include <sstream>
#include <thread>

#if defined(__linux__)
#include <sched.h>
#elif defined(__APPLE__)
#include <sys/sysctl.h>
#endif

namespace longhand::cpu {
namespace {

constexpr double unlimited = std::numeric_limits<double>::infinity();

std::string first_line(const std::string& path) {
  std::string line;
  std::ifstream file(path);
  std::getline(file, line);
  return line;
}

double number(const std::string& text, double otherwise) {
  std::istringstream words(text);
  double value = 0;
  return words >> value ? value : otherwise;
}

double share(double quota, double period) { return quota > 0 && period > 0 ? quota / period : unlimited; }

// Version 2: one file, "<quota> <period>" or "max <period>"; version 1: two files, a quota of -1 is none.
double quota_in(const std::string& folder) {
  std::istringstream both(first_line(folder + "/cpu.max"));
  double quota = 0, period = 0;
  if (both >> quota >> period) return share(quota, period);
  return share(number(first_line(folder + "/cpu.cfs_quota_us"), -1),
               number(first_line(folder + "/cpu.cfs_period_us"), -1));
}

// A group is bound by the quotas of all its ancestors. In a container the group's name may be the one outside, which
// does not exist inside; the quota is then found at the root.
double quota_around(const std::string& mount, std::string group) {
  double least = quota_in(mount);
  for (; group.size() > 1; group.resize(group.rfind('/'))) least = std::min(least, quota_in(mount + group));
  return least;
}

bool lists(const std::string& controllers, const std::string& wanted) {
  return ("," + controllers + ",").find("," + wanted + ",") != std::string::npos;
}

// Lines "<number>:<controllers>:<group>"; version 2 has the number 0 and no controllers.
double quota_cores(const std::string& root) {
  const std::string mounts = root + "/sys/fs/cgroup";
  double least = unlimited;
  std::ifstream file(root + "/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const size_t controllers = line.find(':') + 1, group = line.find(':', controllers) + 1;
    if (controllers == 0 || group == 0) continue;
    const std::string names = line.substr(controllers, group - controllers - 1);
    if (names.empty()) least = std::min(least, quota_around(mounts, line.substr(group)));
    else if (lists(names, "cpu")) least = std::min(least, quota_around(mounts + "/cpu", line.substr(group)));
  }
  return least;
}

// "0-3,8": first and last of each run.
std::set<int> numbers(const std::string& list) {
  std::set<int> all;
  std::istringstream runs(list);
  for (std::string run; std::getline(runs, run, ',');) {
    const int first = static_cast<int>(number(run, -1)), dash = static_cast<int>(run.find('-'));
    const int last = dash < 0 ? first : static_cast<int>(number(run.substr(static_cast<size_t>(dash) + 1), first));
    for (int i = std::max(0, first); i <= last; ++i) all.insert(i);
  }
  return all;
}

// Intel's hybrid processors list their performance cores; elsewhere a processor tells its capacity, of 1024 the
// largest, and small cores have a third or less.
std::vector<int> performance(const std::vector<int>& allowed, const std::string& root) {
  const std::set<int> listed = numbers(first_line(root + "/sys/devices/cpu_core/cpus"));
  const auto capacity = [&](int cpu) {
    const std::string folder = root + "/sys/devices/system/cpu/cpu" + std::to_string(cpu);
    return number(first_line(folder + "/cpu_capacity"), 1024);
  };
  double most = 0;
  for (const int cpu : allowed) most = std::max(most, capacity(cpu));
  std::vector<int> found;
  for (const int cpu : allowed)
    if (listed.empty() ? capacity(cpu) >= most / 2 : listed.contains(cpu)) found.push_back(cpu);
  return found.empty() ? allowed : found;
}

int physical(const std::vector<int>& cpus, const std::string& root) {
  std::set<std::string> cores;
  for (const int cpu : cpus) {
    const std::string name = std::to_string(cpu);
    const std::string siblings =
        first_line(root + "/sys/devices/system/cpu/cpu" + name + "/topology/thread_siblings_list");
    cores.insert(siblings.empty() ? name : siblings);
  }
  return static_cast<int>(cores.size());
}

}  // namespace

int usable_cores(const std::vector<int>& allowed, const std::string& root) {
  const double cores = physical(performance(allowed, root), root);
  return std::max(1, static_cast<int>(std::min(cores, std::ceil(quota_cores(root)))));
}

#if defined(__linux__)
int usable_cores() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  std::vector<int> allowed;
  if (sched_getaffinity(0, sizeof mask, &mask) == 0)
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
      if (CPU_ISSET(cpu, &mask)) allowed.push_back(cpu);
  // There are more processors than the mask can hold.
  for (int cpu = 0; allowed.empty() && cpu < static_cast<int>(std::thread::hardware_concurrency()); ++cpu)
    allowed.push_back(cpu);
  return usable_cores(allowed, "");
}
#else
int usable_cores() {
#if defined(__APPLE__)
  int cores = 0;
  size_t bytes = sizeof cores;
  if (sysctlbyname("hw.perflevel0.physicalcpu", &cores, &bytes, nullptr, 0) == 0) return cores;
#endif
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}
#endif

}  // namespace longhand::cpu
