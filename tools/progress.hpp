#pragma once
// A line on standard error that tells how far the work is: only on a terminal, and only when the
// work takes longer than a second. It is wiped when the work ends.

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <string>
#include <thread>

namespace tidemark::tools {

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
