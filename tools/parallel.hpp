#pragma once

#include <cstddef>
#include <functional>

namespace tidemark::tools {

// Calls `task` for 0 … count - 1, several at once. `progress` is called with the number of finished
// tasks, never by two threads at once. The first task that throws, in order of tasks, decides what
// is thrown, whatever the threads' timing.
void run_parallel(std::size_t count, const std::function<void(std::size_t)>& task,
                  const std::function<void(std::size_t)>& progress = {});

}  // namespace tidemark::tools
