#include "platform/cpus.h"

#include <sched.h>
#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <string>
#include <system_error>

namespace tessera::platform {

std::vector<uint32_t> usable_cpus() {
  std::vector<uint32_t> cpus;
  cpu_set_t mask;
  CPU_ZERO(&mask);
  if (::sched_getaffinity(0, sizeof(mask), &mask) == 0) {
    for (uint32_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (CPU_ISSET(cpu, &mask)) cpus.push_back(cpu);
    }
  }
  if (cpus.empty()) cpus.push_back(0);
  return cpus;
}

void pin_this_thread(uint32_t cpu) {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  CPU_SET(cpu, &mask);
  ::sched_setaffinity(0, sizeof(mask), &mask);
}

bool is_first_thread() { return ::gettid() == ::getpid(); }

uint32_t keep_other_threads_from_preempting() {
  uint32_t kept = 0;
  std::error_code ended;
  std::filesystem::directory_iterator tasks("/proc/self/task", ended);
  for (; !ended && tasks != std::filesystem::directory_iterator(); tasks.increment(ended)) {
    const std::string name = tasks->path().filename().string();
    pid_t thread = 0;
    std::from_chars(name.data(), name.data() + name.size(), thread);
    if (thread <= 0 || thread == ::gettid()) continue;
    const sched_param no_priority{};
    if (::sched_setscheduler(thread, SCHED_BATCH, &no_priority) == 0) ++kept;
  }
  return kept;
}

}  // namespace tessera::platform
