#include "vulkan/device/probe.h"

#include "vulkan/backend.h"
#include "vulkan/device/loader.h"

#if !defined(_WIN32)
#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#endif

namespace longhand::vulkan {
namespace {

// Opens the device, compiles a kernel and runs it. Returns why it cannot be used, or nothing.
std::string trial(int index) {
  std::string reason;
  const std::shared_ptr<Device> device = Device::open(index, reason);
  if (!device) return reason;
  try {
    VulkanBackend backend(device);
    const Norm norm{.weight = backend.allocate(4 * sizeof(float)), .eps = 1e-6f};
    backend.begin({});
    backend.rms_norm(backend.scratch(1, 4), norm);
    backend.finish();
    return "";
  } catch (const std::exception& error) {
    return error.what();
  }
}

// One line a message: "count <n>", "<index> <why it cannot be used, or nothing>", "none <reason>".
template <class Say>
void try_all(int first, const Say& say) {
  std::string reason;
  const Instance* instance = open_instance(reason);
  if (!instance) {
    say("none " + reason);
    return;
  }
  say("count " + std::to_string(instance->devices.size()));
  for (int i = first; i < static_cast<int>(instance->devices.size()); i++) say(std::to_string(i) + " " + trial(i));
}

void take(Probe& probe, int& next, const std::string& line) {
  const size_t space = line.find(' ');
  const std::string word = line.substr(0, space), rest = line.substr(space + 1);
  if (word == "none") {
    probe.reason = rest;
  } else if (word == "count") {
    probe.devices.resize(std::stoul(rest));
  } else {
    next = std::stoi(word) + 1;
    probe.devices.at(static_cast<size_t>(next - 1)) = rest;
  }
}

#if defined(_WIN32)

Probe run_probe() {  // the probe would run in the engine process itself, which may be lost
  Probe probe;
  int next = 0;
  try_all(0, [&](const std::string& line) { take(probe, next, line); });
  return probe;
}

#else

constexpr int patience_ms = 30'000;

[[noreturn]] void be_the_child(int pipe, int first) {
  for (const int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTERM}) std::signal(signal, SIG_DFL);
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  const int nowhere = ::open("/dev/null", O_RDWR);
  for (const int standard : {0, 1, 2}) dup2(nowhere, standard);
  try_all(first, [&](std::string line) {
    for (char& c : line)
      if (c == '\n') c = ' ';
    line += '\n';
    if (::write(pipe, line.data(), line.size()) < 0) _exit(1);
  });
  _exit(0);
}

// Everything the child writes until it closes its end; false if it is silent for too long.
bool listen(int pipe, std::string& heard) {
  for (;;) {
    pollfd waiting{pipe, POLLIN, 0};
    const int ready = poll(&waiting, 1, patience_ms);
    if (ready == 0) return false;
    char piece[512];
    const ssize_t count = ::read(pipe, piece, sizeof piece);
    if (count <= 0) return true;
    heard.append(piece, static_cast<size_t>(count));
  }
}

// Runs one child, from device `first` on. Empty if it finished, else how it died.
std::string run_child(int first, std::string& heard) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return "could not be tried: no pipe";
  const pid_t child = fork();
  if (child < 0) return "could not be tried: no process";
  if (child == 0) be_the_child(ends[1], first);
  close(ends[1]);
  const bool answered = listen(ends[0], heard);
  close(ends[0]);
  if (!answered) kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  if (!answered) return "does not answer";
  if (WIFSIGNALED(status)) return "crashed when it was tried (signal " + std::to_string(WTERMSIG(status)) + ")";
  return WEXITSTATUS(status) == 0 ? "" : "ended when it was tried (code " + std::to_string(WEXITSTATUS(status)) + ")";
}

// When a child dies at a device, another starts after that device.
Probe run_probe() {
  Probe probe;
  for (int next = 0;;) {
    std::string heard;
    const std::string fate = run_child(next, heard);
    for (size_t at = 0, end = 0; (end = heard.find('\n', at)) != std::string::npos; at = end + 1)
      take(probe, next, heard.substr(at, end - at));
    if (fate.empty()) return probe;
    if (static_cast<size_t>(next) >= probe.devices.size()) {
      probe.reason = "the Vulkan driver of this computer " + fate;
      return probe;
    }
    probe.devices[static_cast<size_t>(next++)] = "its driver " + fate;
  }
}

#endif

}  // namespace

const Probe& probe() {
  static const Probe found = run_probe();
  return found;
}

}  // namespace longhand::vulkan
