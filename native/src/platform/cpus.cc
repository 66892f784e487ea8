#include "platform/cpus.h"

#include <sched.h>
#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <string>
#include <system_error>

namespace tessera::platform {

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
