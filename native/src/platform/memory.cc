#include "platform/memory.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>
#include <string_view>

namespace tessera::platform {
namespace {

constexpr uint64_t kUnknown = std::numeric_limits<uint64_t>::max();

uint64_t meminfo_available(const std::string& root) {
  std::ifstream file(root + "proc/meminfo");
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
uint64_t read_number(const std::string& path) {
  std::ifstream file(path);
  uint64_t value = 0;
  return file >> value ? value : kUnknown;
}

/// The number behind a key of a cgroup's memory.stat; 0 where it has none.
uint64_t read_stat(const std::string& path, std::string_view wanted) {
  std::ifstream file(path);
  std::string key;
  uint64_t value = 0;
  while (file >> key >> value) {
    if (key == wanted) return value;
  }
  return 0;
}

/// The names that a version of cgroups gives to a group's files.
struct Names {
  const char* limit;
  const char* used;
  const char* reclaimable;
};
constexpr Names kVersion1{"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"};
constexpr Names kVersion2{"memory.max", "memory.current", "inactive_file"};

/// Bytes left below the limit of one cgroup; kUnknown if it has no limit.
uint64_t left_in(const std::string& folder, const Names& names) {
  const uint64_t limit = read_number(folder + names.limit);
  const uint64_t used = read_number(folder + names.used);
  if (limit == kUnknown || used == kUnknown) return kUnknown;
  const uint64_t pages = read_stat(folder + "memory.stat", names.reclaimable);
  const uint64_t kept = used - std::min(used, pages);
  return limit - std::min(limit, kept);
}

/// The least that a cgroup and those around it have left. `path` begins with a /.
uint64_t left_around(const std::string& mount, std::string path, const Names& names) {
  uint64_t least = kUnknown;
  while (path.size() > 1) {
    least = std::min(least, left_in(mount + path + "/", names));
    path.resize(path.find_last_of('/'));
  }
  return std::min(least, left_in(mount + "/", names));
}

/// Bytes left by the lines of /proc/self/cgroup, ID:CONTROLLERS:PATH.
uint64_t cgroups_left(const std::string& root) {
  const std::string mounts = root + "sys/fs/cgroup";
  uint64_t least = left_in(mounts + "/", kVersion2);
  std::ifstream file(root + "proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const size_t first = line.find(':');
    const size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const std::string path = line.substr(second + 1);
    if (controllers == ",,") least = std::min(least, left_around(mounts, path, kVersion2));
    if (controllers.find(",memory,") != std::string::npos)
      least = std::min(least, left_around(mounts + "/memory", path, kVersion1));
  }
  return least;
}

}  // namespace

uint64_t available_memory_bytes(const std::string& root) {
  return std::min(meminfo_available(root), cgroups_left(root));
}

}  // namespace tessera::platform
