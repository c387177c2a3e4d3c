#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "tests/support/allocator_replay.hpp"
#include "tests/support/catch.hpp"

namespace tidemark::test {
namespace {

TEST_CASE("the model repeats the logs of real allocators", "[allocator-logs]") {
  const char* folder = std::getenv("TIDEMARK_ALLOCATOR_LOGS");
  if (folder == nullptr || !std::filesystem::is_directory(folder)) {
    WARN("skipped: TIDEMARK_ALLOCATOR_LOGS names no folder (tools/replay_allocator_logs.py)");
    return;
  }
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".replay") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  REQUIRE(!files.empty());
  for (const auto& file : files) {
    std::ifstream in(file);
    const AllocatorRecording recording = read_recording(in);
    const ReplayResult result = replay(recording);
    INFO(file.filename().string() << ": " << result.events << " of " << recording.events.size()
                                  << " events agree, " << result.segment_events
                                  << " segment events, " << result.end_blocks << " blocks in "
                                  << result.end_segments << " segments at the end");
    CHECK(result.differences == std::vector<std::string>());
    CHECK(result.events == recording.events.size());
  }
}

}  // namespace
}  // namespace tidemark::test
