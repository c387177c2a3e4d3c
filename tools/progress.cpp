#include "tools/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <string>
#include <utility>

namespace tidemark::tools {
namespace {

using namespace std::chrono_literals;

constexpr auto kPatience = 1s;
constexpr auto kRefresh = 250ms;

constexpr std::size_t kBar = 20;  // characters

}  // namespace

std::string progress_line(std::size_t finished, std::size_t all, const std::string& what,
                          double elapsed_seconds) {
  if (all == 0) return fmt::format("{} {}, {:.0f} s so far", finished, what, elapsed_seconds);
  const std::size_t full = kBar * finished / all;
  std::string line = fmt::format("[{}{}] {} of {} {}", std::string(full, '#'),
                                 std::string(kBar - full, '-'), finished, all, what);
  if (finished == 0) return line + fmt::format(", {:.0f} s so far", elapsed_seconds);
  const double each = elapsed_seconds / static_cast<double>(finished);
  return line + fmt::format(", {:.0f} s left", each * static_cast<double>(all - finished));
}

Progress::Progress(std::size_t runs) : runs_(runs) {
  if (::isatty(STDERR_FILENO) != 0) thread_ = std::thread([this] { show_until_done(); });
}

Progress::Progress(std::string what) : what_(std::move(what)) {
  if (::isatty(STDERR_FILENO) != 0) thread_ = std::thread([this] { show_until_done(); });
}

Progress::~Progress() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    done_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Progress::finished(std::size_t runs) {
  const std::lock_guard lock(mutex_);
  finished_ = runs;
}

void Progress::show_until_done() {
  const auto begin = std::chrono::steady_clock::now();
  std::unique_lock lock(mutex_);
  const auto done = [this] { return done_; };
  if (changed_.wait_for(lock, kPatience, done)) return;
  do {
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
    // To the first column, and erase to the end of the line.
    const std::string line = "\r\x1b[K" + progress_line(finished_, runs_, what_, elapsed.count());
    std::fwrite(line.data(), 1, line.size(), stderr);
  } while (!changed_.wait_for(lock, kRefresh, done));
  std::fputs("\r\x1b[K", stderr);
}

}  // namespace tidemark::tools
