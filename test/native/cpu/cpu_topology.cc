// How many cores would be used here, or by the processors LIST (0,1,2) of the machine described below ROOT.
//   cores [ROOT LIST]
#include <cstdio>
#include <sstream>

#include "cpu/threads/cpu_topology.h"

int main(int count, char** arguments) {
  if (count < 3) {
    std::printf("%d\n", longhand::cpu::usable_cores());
    return 0;
  }
  std::vector<int> allowed;
  std::istringstream list(arguments[2]);
  for (std::string cpu; std::getline(list, cpu, ',');) allowed.push_back(std::stoi(cpu));
  std::printf("%d\n", longhand::cpu::usable_cores(allowed, arguments[1]));
  return 0;
}
