#include "platform/memory.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

namespace tessera::platform {
namespace {

constexpr uint64_t kUnknown = std::numeric_limits<uint64_t>::max();

uint64_t meminfo_available() {
  std::ifstream file("/proc/meminfo");
  std::string key;
  uint64_t kibibytes = 0;
  std::string unit;
  while (file >> key >> kibibytes) {
    if (key == "MemAvailable:") return kibibytes * 1024;
    std::getline(file, unit);
  }
  return kUnknown;
}

/// kUnknown when the file is absent or says "max".
uint64_t read_number(const char* path) {
  std::ifstream file(path);
  uint64_t value = 0;
  return file >> value ? value : kUnknown;
}

}  // namespace

uint64_t available_memory_bytes() {
  const uint64_t available = meminfo_available();
  const uint64_t limit = read_number("/sys/fs/cgroup/memory.max");
  const uint64_t used = read_number("/sys/fs/cgroup/memory.current");
  if (limit == kUnknown || used == kUnknown) return available;
  return std::min(available, limit > used ? limit - used : 0);
}

}  // namespace tessera::platform
