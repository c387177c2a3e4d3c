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

}  // namespace

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
    const auto elapsed =
        std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - begin);
    const std::string of = runs_ > 0 ? fmt::format(" of {}", runs_) : "";
    const std::string line = fmt::format("\r{}{} {}, {} s ", finished_, of, what_, elapsed.count());
    std::fwrite(line.data(), 1, line.size(), stderr);
  } while (!changed_.wait_for(lock, kRefresh, done));
  std::fputs("\r\x1b[K", stderr);  // to the first column, and erase to the end of the line
}

}  // namespace tidemark::tools
