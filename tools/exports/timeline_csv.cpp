#include <fmt/format.h>

#include <cstdint>
#include <iterator>

#include "sim/account.hpp"
#include "tools/exports/exports.hpp"

namespace tidemark::tools {

std::string timeline_csv(const PlayedStep& step) {
  constexpr std::int64_t kSecond = 1'000'000'000'000;  // in picoseconds
  std::string out = "time_s,tier,category,bytes\n";
  for (const sim::Sample& sample : sim::timeline(step.program, step.whole())) {
    fmt::format_to(std::back_inserter(out), "{}.{:012},{},{},{}\n", sample.time.count() / kSecond,
                   sample.time.count() % kSecond, kTierNames[static_cast<std::size_t>(sample.tier)],
                   name_of(sample.category), sample.bytes.count);
  }
  return out;
}

}  // namespace tidemark::tools
