#include "tools/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace tidemark::tools {
namespace {

// More threads than this gain little: a run is short and bound by memory.
constexpr unsigned kMostThreads = 8;

}  // namespace

void run_parallel(std::size_t count, const std::function<void(std::size_t)>& task,
                  const std::function<void(std::size_t)>& progress) {
  std::vector<std::exception_ptr> failures(count);
  std::atomic<std::size_t> next = 0;
  std::atomic<bool> failed = false;
  std::mutex mutex;
  std::size_t finished = 0;

  // Tasks are taken in order and each that is taken is finished, so none before the first failure
  // is left out.
  const auto work = [&] {
    while (!failed) {
      const std::size_t i = next++;
      if (i >= count) break;
      try {
        task(i);
      } catch (...) {
        failures[i] = std::current_exception();
        failed = true;
      }
      const std::lock_guard lock(mutex);
      ++finished;
      if (progress) progress(finished);
    }
  };
  const std::size_t wanted = std::min<std::size_t>(
      {std::max(1u, std::thread::hardware_concurrency()), kMostThreads, count});
  std::vector<std::thread> threads;
  for (std::size_t i = 1; i < wanted; ++i) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();

  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
}

}  // namespace tidemark::tools
