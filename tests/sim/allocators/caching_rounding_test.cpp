#include "sim/allocators/caching_rounding.hpp"

#include <string_view>

#include "tests/support/catch.hpp"

namespace tidemark::sim {
namespace {

constexpr std::int64_t kMiB = 1 << 20;

CachingSettings settings(std::string_view text) {
  const ParsedSettings parsed = parse_caching_settings(text);
  REQUIRE(parsed.errors.empty());
  return parsed.settings;
}

TEST_CASE("a request is rounded up to 512 bytes, and to no less", "[caching]") {
  const CachingSettings plain;
  CHECK(block_size(1, plain) == 512);
  CHECK(block_size(511, plain) == 512);
  CHECK(block_size(512, plain) == 512);
  CHECK(block_size(513, plain) == 1024);
  CHECK(block_size(kMiB + 1, plain) == kMiB + 512);
}

TEST_CASE("power-of-two divisions round to a share of the power below", "[caching]") {
  // The example of PyTorch's documentation: 1200 with 4 divisions is 1280 (1024 + 1024/4). Small
  // requests keep steps of 512, so the same in KiB: 1200 KiB becomes 1280 KiB.
  const CachingSettings four = settings("roundup_power2_divisions:4");
  CHECK(block_size(1200 << 10, four) == 1280 << 10);
  CHECK(block_size(1280 << 10, four) == 1280 << 10);
  CHECK(block_size((1280 << 10) + 1, four) == 1536 << 10);
  CHECK(block_size(1024 << 10, four) == 1024 << 10);  // a power of two stays
  CHECK(block_size(2048, four) == 2048);              // not above 512 * 4: steps of 512
  CHECK(block_size(2049, four) == 2560);              // above: 2048 + 2048/4, the same here
  CHECK(block_size(4097, four) == 5120);              // 4096 + 4096/4; steps of 512 give 4608
  CHECK(block_size(4097, settings("roundup_power2_divisions:1")) == 4608);
}

TEST_CASE("each interval of request sizes has its own divisions", "[caching]") {
  CHECK(division_interval(1) == 0);
  CHECK(division_interval(2 * kMiB - 1) == 0);
  CHECK(division_interval(2 * kMiB) == 1);
  CHECK(division_interval((std::int64_t{32} << 30) - 1) == 14);
  CHECK(division_interval(std::int64_t{32} << 30) == 15);
  CHECK(division_interval(std::int64_t{64} << 30) == 15);
}

TEST_CASE("a missing block costs a segment of 2 MiB, 20 MiB or its own size", "[caching]") {
  CHECK(segment_size(512) == 2 * kMiB);
  CHECK(segment_size(kMiB) == 2 * kMiB);
  CHECK(segment_size(kMiB + 512) == 20 * kMiB);
  CHECK(segment_size(10 * kMiB - 512) == 20 * kMiB);
  CHECK(segment_size(10 * kMiB) == 10 * kMiB);
  CHECK(segment_size(10 * kMiB + 512) == 12 * kMiB);
}

}  // namespace
}  // namespace tidemark::sim
