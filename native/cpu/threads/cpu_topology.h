// How many threads are worth starting: physical performance cores within what this process is allowed.
#pragma once

#include <string>
#include <vector>

namespace longhand::cpu {

// Performance cores of which this process may use a thread, and no more than the CPU quotas of its control groups pay
// for. At least 1.
int usable_cores();

// The same for the processors in `allowed`, on a Linux whose /proc and /sys lie below `root`.
int usable_cores(const std::vector<int>& allowed, const std::string& root);

}  // namespace longhand::cpu
