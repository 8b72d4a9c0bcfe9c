#include "metal/tuning/tuning_file.h"

#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string_view>

#include "metal/pipelines/archive.h"

namespace longhand::metal {

namespace {

namespace fs = std::filesystem;

std::string file_of(const Device& device) { return cache_path(device, "tuning", "txt"); }

// Identifies the device and program that a file is valid for.
std::string header(const Device& device) {
  std::string text = "longhand metal tuning\nfor " + device.identity() + "\namong";
  for (const Choice& choice : choices()) {
    text += std::string(" ") + choice.name;
    for (const int64_t value : choice.tried) text += "," + std::to_string(value);
  }
  return text + "\n";
}

// FNV-1a.
std::string sum_of(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : text) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3u;
  return "sum " + std::to_string(hash) + "\n";
}

// "<name> <value> ...", a value that was tried.
bool take_line(std::string_view line, const Choice& choice, Tuning& tuning) {
  const std::string name = std::string(choice.name) + " ";
  if (!line.starts_with(name)) return false;
  int64_t value = 0;
  std::from_chars(line.data() + name.size(), line.data() + line.size(), value);
  for (const int64_t tried : choice.tried)
    if (value == tried) {
      tuning.*choice.value = value;
      return true;
    }
  return false;
}

std::string content(const std::string& path) {
  constexpr size_t most = 64 * 1024;
  std::ifstream file(path, std::ios::binary);
  std::string text(most, '\0');
  file.read(text.data(), most);
  text.resize(static_cast<size_t>(file.gcount()));
  return text;
}

}  // namespace

std::optional<Tuning> read_tuning(const Device& device) {
  const std::string path = file_of(device), text = path.empty() ? "" : content(path), begin = header(device);
  const size_t end = text.rfind("sum ");
  if (end == std::string::npos || !text.starts_with(begin) || text.substr(end) != sum_of(text.substr(0, end)))
    return {};
  std::istringstream lines(text.substr(begin.size(), end - begin.size()));
  Tuning tuning = tuning_of_chip(device.info().name);
  std::string line;
  for (const Choice& choice : choices())
    if (!std::getline(lines, line) || !take_line(line, choice, tuning)) return {};
  tuning.origin = "measured on this device";
  return tuning;
}

Tuning tuning_for(const Device& device) {
  Tuning tuning = tuning_of_chip(device.info().name);
  if (tuner_wanted()) {
    if (const std::optional<Tuning> measured = read_tuning(device)) tuning = *measured;
    else tuning.origin += ", until it is measured after the next load";
  }
  choose_by_environment(tuning);
  return tuning;
}

void write_tuning(const Device& device, const Measured& measured) {
  const std::string path = file_of(device);
  if (path.empty()) return;
  std::string text = header(device);
  for (size_t i = 0; i < choices().size(); ++i) {
    const Choice& choice = choices()[i];
    text += std::string(choice.name) + " " + std::to_string(measured.tuning.*choice.value) + measured.reasons[i] + "\n";
  }
  text += sum_of(text);
  const std::string fresh = beside(path);
  std::error_code error;
  {
    std::ofstream file(fresh, std::ios::binary | std::ios::trunc);
    file << text;
    file.close();
    if (!file) {
      fs::remove(fresh, error);
      return;
    }
  }
  fs::rename(fresh, path, error);
  if (error) fs::remove(fresh, error);
}

}  // namespace longhand::metal
