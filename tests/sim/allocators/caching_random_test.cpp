// The model against a naive reference, step by step, on random requests under every setting.

#include <cstdint>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "sim/allocators/caching.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/naive_caching.hpp"

namespace tidemark::test {
namespace {

constexpr std::int64_t kMiB = 1 << 20;

struct Case {
  std::string settings;
  NaiveSettings naive;  // the same settings, written down without the parser
};

std::vector<Case> cases() {
  std::vector<Case> all;
  const auto add = [&](std::string settings, std::int64_t mebibytes, auto change) {
    Case next{std::move(settings), {}};
    next.naive.capacity = mebibytes * kMiB;
    change(next.naive);
    all.push_back(std::move(next));
  };
  add("", 100'000, [](NaiveSettings&) {});
  add("", 400, [](NaiveSettings&) {});  // tight: retries and refusals
  add("max_split_size_mb:20", 500, [](auto& n) { n.max_split = 20 * kMiB; });
  add("max_split_size_mb:41,max_non_split_rounding_mb:32", 600, [](auto& n) {
    n.max_split = 41 * kMiB;
    n.max_non_split_rounding = 32 * kMiB;
  });
  add("roundup_power2_divisions:8", 500, [](auto& n) { n.divisions.fill(8); });
  add("roundup_power2_divisions:[2:2,8:1,16:4,>:16]", 500, [](auto& n) {
    n.divisions.fill(16);
    n.divisions[0] = n.divisions[1] = 2;
    n.divisions[2] = 0;
    n.divisions[3] = 1;
    n.divisions[4] = 4;
  });
  add("per_process_memory_fraction:0.75", 600, [](auto& n) { n.fraction = 0.75; });
  add("garbage_collection_threshold:0.6,per_process_memory_fraction:0.9", 600, [](auto& n) {
    n.gc_threshold = 0.6;
    n.fraction = 0.9;
  });
  add("garbage_collection_threshold:0.3,per_process_memory_fraction:1,max_split_size_mb:24", 900,
      [](auto& n) {
        n.gc_threshold = 0.3;
        n.fraction = 1;
        n.max_split = 24 * kMiB;
      });
  add("expandable_segments:True", 100'000, [](auto& n) { n.expandable = true; });
  add("expandable_segments:True", 400, [](auto& n) { n.expandable = true; });
  add("expandable_segments:True,roundup_power2_divisions:4,max_split_size_mb:32", 450, [](auto& n) {
    n.expandable = true;
    n.divisions.fill(4);
    n.max_split = 32 * kMiB;
  });
  add("expandable_segments:True,per_process_memory_fraction:0.8,garbage_collection_threshold:0.5",
      500, [](auto& n) {
        n.expandable = true;
        n.fraction = 0.8;
        n.gc_threshold = 0.5;
      });
  return all;
}

std::int64_t random_size(std::mt19937& random) {
  const auto below = [&](std::int64_t n) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
  };
  switch (random() % 8) {
    case 0:
      return below(2000);  // a few blocks of 512
    case 1:
      return 1 + below(kMiB + 2000);  // the small pool and its edge
    case 2:
      return kMiB - 1024 + 512 * below(5);  // that edge
    case 3:
      return 10 * kMiB - 1024 + 512 * below(5);  // own segment or not
    case 4:
      return (1 + below(40)) * kMiB;  // equal sizes meet: ties
    case 5:
      return 4 * kMiB * (1 + below(3));
    default:
      return kMiB + below(45 * kMiB);
  }
}

NaiveEvent plain(const sim::MemoryTraceEvent& e) {
  return {static_cast<int>(e.action), e.address, e.size.count, static_cast<int>(e.stream)};
}

using PlainBlock = std::tuple<std::uint64_t, std::int64_t, std::int64_t, int>;

std::vector<PlainBlock> blocks_of(const sim::MemorySnapshot& snapshot) {
  std::vector<PlainBlock> blocks;
  for (const auto& segment : snapshot) {
    for (const auto& b : segment.blocks) {
      const bool used = b.state != sim::SnapshotState::kInactive;
      blocks.emplace_back(b.address, b.size.count, used ? b.requested.count : 0,
                          static_cast<int>(b.state));
    }
  }
  return blocks;
}

std::vector<PlainBlock> blocks_of(const NaiveCaching& naive) {
  std::vector<PlainBlock> blocks;
  for (const auto& segment : naive.segments) {
    for (const auto& p : segment.pieces) {
      using Is = NaiveCaching::Is;
      if (p.is == Is::kUnmapped) continue;
      blocks.emplace_back(p.address, p.size, p.is == Is::kFree ? 0 : p.requested,
                          p.is == Is::kUsed      ? 0
                          : p.is == Is::kPending ? 1
                                                 : 2);
    }
  }
  std::sort(blocks.begin(), blocks.end());
  return blocks;
}

void compare_totals(const sim::CachingAllocator& model, const NaiveCaching& naive) {
  const sim::CachingStatistics s = model.caching_statistics();
  const NaiveSums now = naive.sums();
  REQUIRE(s.allocated.count == now.allocated);
  REQUIRE(s.active.count == now.active);
  REQUIRE(s.reserved.count == now.reserved);
  REQUIRE(s.inactive_split.count == now.inactive_split);
  REQUIRE(s.requested.count == now.requested);
  REQUIRE(s.allocated_peak.count == naive.peaks.allocated);
  REQUIRE(s.active_peak.count == naive.peaks.active);
  REQUIRE(s.reserved_peak.count == naive.peaks.reserved);
  REQUIRE(s.inactive_split_peak.count == naive.peaks.inactive_split);
  REQUIRE(s.requested_peak.count == naive.peaks.requested);
  REQUIRE(s.retries == naive.retries);
  REQUIRE(s.out_of_memory == naive.failures);
  REQUIRE(s.synchronizations == naive.synchronizations);
  REQUIRE(s.driver_allocations == naive.driver_allocations);
  REQUIRE(s.driver_frees == naive.driver_frees);
  REQUIRE(blocks_of(model.snapshot()) == blocks_of(naive));
}

// Phases that grow and phases that shrink, over three streams, with uses across streams.
void run(const Case& which, std::uint32_t seed, int operations) {
  const auto parsed = sim::parse_caching_settings(which.settings);
  REQUIRE(parsed.errors.empty());
  sim::CachingAllocator model(Bytes(which.naive.capacity), parsed.settings);
  NaiveCaching naive(which.naive);
  model.trace(sim::Trace::kOn);
  std::mt19937 random(seed);
  struct Live {
    std::uint64_t handle, address;
  };
  std::vector<Live> live;
  std::size_t seen = 0;
  const std::size_t most = which.naive.capacity > 1000 * kMiB ? 60 : 45;
  for (int operation = 0; operation < operations; ++operation) {
    const bool growing = operation / 256 % 2 == 0;
    const auto dice = random() % 1000;
    if (dice < 2) {
      model.empty_cache();
      naive.empty_cache();
    } else if (dice < 40) {
      const auto stream = random() % 3;
      const std::uint64_t count = model.events_recorded(static_cast<Stream>(stream));
      const std::uint64_t done = naive.completed[stream];
      const std::uint64_t to = done + random() % (count - done + 1);
      model.complete_events(static_cast<Stream>(stream), to);
      naive.completed[stream] = std::max(done, to);
    } else if (dice < 100 && !live.empty()) {
      const Live& used = live[random() % live.size()];
      const auto stream = random() % 3;
      model.record_stream(used.handle, static_cast<Stream>(stream));
      if (used.address != 0) naive.use(used.address, static_cast<int>(stream));
    } else if (live.size() < most && dice < (growing ? 650u : 450u)) {
      const std::int64_t size = random_size(random);
      const auto stream = random() % 8 < 6 ? 0 : random() % 3;
      const auto allocation = model.allocate(Bytes(size), static_cast<Stream>(stream));
      const auto address = naive.allocate(size, static_cast<int>(stream));
      REQUIRE(allocation.has_value() == address.has_value());
      if (allocation) {
        if (*address != 0) REQUIRE(model.address_of(allocation->handle) == *address);
        live.push_back({allocation->handle, *address});
      }
    } else if (!live.empty()) {
      const std::size_t i = random() % live.size();
      model.free(live[i].handle);
      naive.free(live[i].address);
      live[i] = live.back();
      live.pop_back();
    }
    const auto& made = model.trace_events();
    if (made.size() != naive.events.size()) {
      INFO("operation " << operation);
      REQUIRE(made.size() == naive.events.size());
    }
    for (; seen < made.size(); ++seen) {
      if (plain(made[seen]) == naive.events[seen]) continue;
      INFO("operation " << operation << ", event " << seen << ", action "
                        << naive.events[seen].action);
      REQUIRE(made[seen].address == naive.events[seen].address);
      REQUIRE(plain(made[seen]) == naive.events[seen]);
    }
    if (operation % 512 == 0) compare_totals(model, naive);
  }
  compare_totals(model, naive);
}

TEST_CASE("the caching allocator does what a naive one does, event for event", "[caching]") {
  constexpr int kOperations = 80'000;  // 13 cases: 1 040 000 in all
  const auto all = cases();
  REQUIRE(all.size() * kOperations >= 1'000'000);
  for (std::size_t i = 0; i < all.size(); ++i) {
    INFO(all[i].settings << " in " << all[i].naive.capacity / kMiB << " MiB");
    for (std::uint32_t round = 0; round < 4; ++round) {
      run(all[i], static_cast<std::uint32_t>(100 * i) + round, kOperations / 4);
    }
  }
}

}  // namespace
}  // namespace tidemark::test
