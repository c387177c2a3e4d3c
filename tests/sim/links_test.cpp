#include "sim/links.hpp"

#include <algorithm>
#include <vector>

#include "hardware/ensure.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/naive_links.hpp"
#include "tests/support/random_program.hpp"

namespace tidemark::sim {
namespace {

using namespace tidemark::literals;

constexpr std::int64_t kSecond = 1'000'000'000'000;  // in picoseconds

Path over(std::initializer_list<std::pair<LinkKind, int>> weights, Bandwidth cap = {}) {
  Path path;
  for (const auto& [kind, weight] : weights) {
    path.weight[static_cast<std::size_t>(kind)] = static_cast<std::uint8_t>(weight);
  }
  path.cap = cap;
  return path;
}

struct Completion {
  SimTime time;
  std::uint32_t tag;
  friend bool operator==(const Completion&, const Completion&) = default;
};

std::vector<Completion> drain(LinkNetwork& network) {
  std::vector<Completion> all;
  std::vector<std::uint32_t> done;
  while (const auto next = network.next_completion()) {
    done.clear();
    network.finish(*next, done);
    for (const std::uint32_t tag : done) all.push_back({*next, tag});
  }
  return all;
}

TEST_CASE("A transfer alone takes its bytes over its link's bandwidth, rounded up") {
  const std::vector<Link> links = {{LinkKind::kPcieH2d, 26_GBps}};
  const std::vector<Path> paths = {over({{LinkKind::kPcieH2d, 1}})};
  LinkNetwork network(links, paths);
  CHECK_FALSE(network.next_completion().has_value());
  network.start(0_ps, PathId{0}, 26_GB, 7);
  CHECK(drain(network) == std::vector<Completion>{{SimTime(kSecond), 7}});
  // 1 B at 26 GB/s is 38.46 ps.
  network.start(SimTime(kSecond), PathId{0}, 1_B, 8);
  CHECK(drain(network) == std::vector<Completion>{{SimTime(kSecond + 39), 8}});
}

TEST_CASE("Two equal transfers that start together take twice as long and end together") {
  const std::vector<Link> links = {{LinkKind::kDram, 10_GBps}};
  const std::vector<Path> paths = {over({{LinkKind::kDram, 1}})};
  LinkNetwork network(links, paths);
  network.start(0_ps, PathId{0}, 10_GB, 1);
  network.start(0_ps, PathId{0}, 10_GB, 0);
  const SimTime end(2 * kSecond);
  CHECK(drain(network) == std::vector<Completion>{{end, 1}, {end, 0}});
}

// The running example of sim/links.hpp: 10 B/s links, A over both, B over the second.
TEST_CASE("A path over two links shares the second with a later transfer") {
  const std::vector<Link> links = {{LinkKind::kPcieH2d, Bandwidth(10)},
                                   {LinkKind::kDram, Bandwidth(10)}};
  const std::vector<Path> paths = {over({{LinkKind::kPcieH2d, 1}, {LinkKind::kDram, 1}}),
                                   over({{LinkKind::kDram, 1}})};
  LinkNetwork network(links, paths);
  network.start(0_ps, PathId{0}, 20_B, 0);
  network.start(SimTime(kSecond), PathId{1}, 15_B, 1);
  CHECK(drain(network) ==
        std::vector<Completion>{{SimTime(3 * kSecond), 0}, {SimTime(7 * kSecond / 2), 1}});
}

TEST_CASE("What a capped transfer leaves goes to the others") {
  // 10 B/s; A never above 2 B/s: B gets 8. B's 16 B end at 2 s, A's 6 B at 3 s.
  const std::vector<Link> links = {{LinkKind::kNvmeRead, Bandwidth(10)}};
  const std::vector<Path> paths = {over({{LinkKind::kNvmeRead, 1}}, Bandwidth(2)),
                                   over({{LinkKind::kNvmeRead, 1}})};
  LinkNetwork network(links, paths);
  network.start(0_ps, PathId{0}, 6_B, 0);
  network.start(0_ps, PathId{1}, 16_B, 1);
  CHECK(drain(network) ==
        std::vector<Completion>{{SimTime(2 * kSecond), 1}, {SimTime(3 * kSecond), 0}});
}

TEST_CASE("A cap equal to the fair share changes nothing, one below it does") {
  const std::vector<Link> links = {{LinkKind::kNvmeRead, Bandwidth(10)}};
  for (const std::int64_t cap : {4, 5, 6}) {
    const std::vector<Path> paths = {over({{LinkKind::kNvmeRead, 1}}, Bandwidth(cap)),
                                     over({{LinkKind::kNvmeRead, 1}})};
    LinkNetwork network(links, paths);
    network.start(0_ps, PathId{0}, 60_B, 0);
    network.start(0_ps, PathId{1}, 60_B, 1);
    // cap 4: B has 6 B/s and ends at 10 s. Cap 5 or 6: both have 5 and end at 12 s.
    CHECK(network.next_completion() == SimTime((cap == 4 ? 10 : 12) * kSecond));
  }
}

TEST_CASE("A path of weight two takes twice its rate from the link") {
  // DRAM 9 B/s; A reads and writes it (weight 2), B only reads: each runs at 9 / 3 = 3 B/s.
  const std::vector<Link> links = {{LinkKind::kDram, Bandwidth(9)}};
  const std::vector<Path> paths = {over({{LinkKind::kDram, 2}}), over({{LinkKind::kDram, 1}})};
  LinkNetwork network(links, paths);
  network.start(0_ps, PathId{0}, 3_B, 0);
  network.start(0_ps, PathId{1}, 12_B, 1);
  // At 1 s A is done; B has 9 B left at 9 B/s.
  CHECK(drain(network) ==
        std::vector<Completion>{{SimTime(kSecond), 0}, {SimTime(2 * kSecond), 1}});
}

TEST_CASE("Transfers that compete get the link by their paths' shares") {
  // 35 B/s, shares 11 and 24: each for 2 s, alone at its own 22 and 25 B/s.
  const std::vector<Link> links = {{LinkKind::kPcieH2d, Bandwidth(22)},
                                   {LinkKind::kPcieD2h, Bandwidth(25)},
                                   {LinkKind::kPcieBoth, Bandwidth(35)}};
  std::vector<Path> paths = {over({{LinkKind::kPcieH2d, 1}, {LinkKind::kPcieBoth, 1}}),
                             over({{LinkKind::kPcieD2h, 1}, {LinkKind::kPcieBoth, 1}})};
  paths[0].share = 11;
  paths[1].share = 24;
  LinkNetwork network(links, paths);
  network.start(0_ps, PathId{0}, 44_B, 0);
  network.start(0_ps, PathId{1}, 48_B, 1);
  // At 2 s the second is done; the first has 44 - 22 = 22 B left at 22 B/s: rates are
  // whole bytes a second for each unit of share.
  CHECK(drain(network) ==
        std::vector<Completion>{{SimTime(2 * kSecond), 1}, {SimTime(3 * kSecond), 0}});
}

TEST_CASE("What a transfer cannot use of its share goes to the others") {
  // 30 B/s, shares 1 and 2, the second capped at 12: the first has 18.
  const std::vector<Link> links = {{LinkKind::kDram, Bandwidth(30)}};
  std::vector<Path> paths = {over({{LinkKind::kDram, 1}}),
                             over({{LinkKind::kDram, 1}}, Bandwidth(12))};
  paths[1].share = 2;
  LinkNetwork network(links, paths);
  network.start(0_ps, PathId{0}, 18_B, 0);
  network.start(0_ps, PathId{1}, 24_B, 1);
  CHECK(drain(network) ==
        std::vector<Completion>{{SimTime(kSecond), 0}, {SimTime(2 * kSecond), 1}});
}

TEST_CASE("Only what shares are to each other counts") {
  const std::vector<Link> links = {{LinkKind::kDram, Bandwidth(1'000'000)}};
  for (const int number : {1, 7, 200}) {
    const auto share = static_cast<std::uint8_t>(number);
    std::vector<Path> paths = {over({{LinkKind::kDram, 1}}), over({{LinkKind::kDram, 1}})};
    paths[0].share = paths[1].share = share;
    LinkNetwork network(links, paths);
    network.start(0_ps, PathId{0}, 1'000'000_B, 0);
    network.start(0_ps, PathId{1}, 1'000'000_B, 1);
    // Rates are whole multiples of the share: below half the link by at most that.
    const std::int64_t rate = 1'000'000 / (2 * share) * share;
    CHECK(network.next_completion() == time_at_rate(1'000'000, rate));
  }
}

TEST_CASE("The tightest link is filled first and what it leaves elsewhere is shared out") {
  // Max-min by hand: A over h2d (4 B/s) and dram (10 B/s), B and C over dram alone. Shares: h2d 4,
  // dram 10 / 3 = 3 in whole bytes: dram is the tightest, all get 3. With h2d at 2 B/s A gets 2 and
  // B and C get (10 - 2) / 2 = 4.
  for (const std::int64_t h2d : {4, 2}) {
    const std::vector<Link> links = {{LinkKind::kPcieH2d, Bandwidth(h2d)},
                                     {LinkKind::kDram, Bandwidth(10)}};
    const std::vector<Path> paths = {over({{LinkKind::kPcieH2d, 1}, {LinkKind::kDram, 1}}),
                                     over({{LinkKind::kDram, 1}})};
    LinkNetwork network(links, paths);
    network.start(0_ps, PathId{0}, 120_B, 0);
    network.start(0_ps, PathId{1}, 12_B, 1);
    network.start(0_ps, PathId{1}, 12_B, 2);
    CHECK(network.next_completion() == SimTime((h2d == 4 ? 4 : 3) * kSecond));
  }
}

TEST_CASE("A link that the program does not list has no limit") {
  const std::vector<Link> links = {{LinkKind::kPcieH2d, Bandwidth(10)}};
  const std::vector<Path> paths = {over({{LinkKind::kPcieH2d, 1}, {LinkKind::kDram, 200}}),
                                   over({{LinkKind::kDram, 1}}, Bandwidth(5))};
  LinkNetwork network(links, paths);
  network.start(0_ps, PathId{0}, 10_B, 0);
  network.start(0_ps, PathId{1}, 10_B, 1);
  CHECK(drain(network) ==
        std::vector<Completion>{{SimTime(kSecond), 0}, {SimTime(2 * kSecond), 1}});
}

TEST_CASE("Programs that cannot be shared out are refused") {
  const std::vector<Link> twice = {{LinkKind::kDram, 1_GBps}, {LinkKind::kDram, 1_GBps}};
  CHECK_THROWS_AS(LinkNetwork(twice, {}), InternalError);
  const std::vector<Link> none = {{LinkKind::kDram, Bandwidth(0)}};
  CHECK_THROWS_AS(LinkNetwork(none, {}), InternalError);
  const std::vector<Path> free_path = {over({{LinkKind::kDram, 1}})};
  CHECK_THROWS_AS(LinkNetwork({}, free_path), InternalError);
  std::vector<Path> without_share = free_path;
  without_share[0].share = 0;
  CHECK_THROWS_AS(LinkNetwork(std::vector<Link>{{LinkKind::kDram, 1_GBps}}, without_share),
                  InternalError);
  const std::vector<Link> links = {{LinkKind::kDram, 1_GBps}};
  LinkNetwork network(links, free_path);
  CHECK_THROWS_AS(network.start(0_ps, PathId{0}, 0_B, 0), InternalError);
  CHECK_THROWS_AS(network.start(0_ps, kNoPath, 1_B, 0), InternalError);
}

TEST_CASE("A transfer that would outlast simulated time is refused") {
  const std::vector<Link> links = {{LinkKind::kDram, Bandwidth(1)}};
  const std::vector<Path> paths = {over({{LinkKind::kDram, 1}})};
  LinkNetwork network(links, paths);
  network.start(0_ps, PathId{0}, 5'000'000_B, 0);  // 58 days
  CHECK_THROWS_AS(network.next_completion(), InternalError);
}

// Starts at random times, also while others are in flight and at the instant of a completion.
void compare_with_naive(std::uint32_t seed, const std::vector<Link>& links,
                        const std::vector<Path>& paths, std::int64_t most_bytes) {
  CAPTURE(seed);
  test::Random random(seed);
  LinkNetwork network(links, paths);
  test::NaiveLinks naive(links);
  SimTime now{};
  std::int64_t to_start = random.between(1, 60);
  std::uint32_t tag = 0;
  std::vector<std::uint32_t> done;
  for (;;) {
    const auto next = network.next_completion();
    const auto wait = naive.wait();
    REQUIRE(next.has_value() == wait.has_value());
    if (next) REQUIRE(*next == now + SimTime(*wait));
    if (!next && to_start == 0) break;
    SimTime until = next.value_or(now + SimTime(random.between(0, 5)));
    if (to_start > 0 && next && !random.one_in(3)) {
      until = now + SimTime(random.between(0, (*next - now).count()));
    }
    std::vector<std::uint32_t> expected = naive.pass((until - now).count());
    now = until;
    done.clear();
    network.finish(now, done);
    std::ranges::sort(done);
    std::ranges::sort(expected);
    REQUIRE(done == expected);
    for (std::int64_t n = random.between(0, 3); n > 0 && to_start > 0; --n, --to_start) {
      const auto path = static_cast<std::uint32_t>(
          random.between(0, static_cast<std::int64_t>(paths.size()) - 1));
      const Bytes bytes(random.between(1, most_bytes));
      network.start(now, PathId{path}, bytes, tag);
      naive.start(paths[path], bytes, tag++);
    }
  }
  REQUIRE(network.in_flight() == 0);
}

TEST_CASE("One link equals the naive solver to the picosecond") {
  const std::vector<Path> paths = {over({{LinkKind::kPcieD2h, 1}})};
  for (std::uint32_t seed = 1; seed <= 100; ++seed) {
    const std::vector<Link> links = {{LinkKind::kPcieD2h, Bandwidth(26'000'000'007)}};
    compare_with_naive(seed, links, paths, seed % 2 == 0 ? 1'000'000'000 : 8);
  }
}

TEST_CASE("Networks with weights and caps equal the naive solver to the picosecond") {
  for (std::uint32_t seed = 1; seed <= 300; ++seed) {
    test::Random random(seed);
    test::ProgramBuilder builder;
    test::add_random_paths(builder, random);
    const Program program = builder.build();
    compare_with_naive(seed, program.links, program.paths, seed % 2 == 0 ? 1'000'000 : 20);
  }
}

TEST_CASE("Networks of paths with shares equal the naive solver to the picosecond") {
  for (std::uint32_t seed = 1; seed <= 300; ++seed) {
    test::Random random(seed);
    test::ProgramBuilder builder;
    test::add_random_paths(builder, random);
    Program program = builder.build();
    for (Path& path : program.paths) {
      path.share = static_cast<std::uint8_t>(random.between(1, seed % 3 == 0 ? 255 : 3));
    }
    compare_with_naive(seed, program.links, program.paths, seed % 2 == 0 ? 1'000'000 : 20);
  }
}

TEST_CASE("Links of a few bytes per second, where shares round to nothing, still end") {
  const std::vector<Link> links = {{LinkKind::kDram, Bandwidth(1)}};
  const std::vector<Path> paths = {over({{LinkKind::kDram, 1}})};
  LinkNetwork network(links, paths);
  network.start(0_ps, PathId{0}, 2_B, 0);
  network.start(0_ps, PathId{0}, 2_B, 1);
  CHECK(drain(network).size() == 2);
}

}  // namespace
}  // namespace tidemark::sim
