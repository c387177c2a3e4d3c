#pragma once
// A bar on standard error that tells how far the work is and how long it will take: only on a
// terminal, and only when the work takes longer than a second. It is wiped when the work ends.

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <string>
#include <thread>

namespace tidemark::tools {

// "[#####---------------] 10 of 40 runs simulated, 9 s left": as long as those so far took, one by
// one. `all` is 0 where nobody knows how many there will be: "12 steps simulated, 9 s so far".
std::string progress_line(std::size_t finished, std::size_t all, const std::string& what,
                          double elapsed_seconds);

class Progress {
 public:
  explicit Progress(std::size_t runs);
  // Where nobody knows how many there will be: "12 steps simulated".
  explicit Progress(std::string what);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void finished(std::size_t runs);

 private:
  void show_until_done();

  std::size_t runs_ = 0;
  std::string what_ = "runs simulated";
  std::size_t finished_ = 0;
  bool done_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::thread thread_;
};

}  // namespace tidemark::tools
