// The policy hybrid: keep, recompute or move, chosen together.

#include <algorithm>
#include <string>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/runs.hpp"
#include "tools/comparison.hpp"
#include "tools/evaluate.hpp"

using namespace tidemark;
using namespace tidemark::tools;

namespace {

Report report_of(const std::string& hardware, const std::string& rest) {
  return evaluate(support::run_of(support::small_step(6, "", hardware, rest)));
}

std::string within(const std::string& policy, Bytes budget, const std::string& more = "") {
  return "checkpoint: {policy: " + policy + ", budget: " + std::to_string(budget.count) + " B" +
         more + "}\n";
}

Bytes peak_of(const Report& report) { return report.tier(Tier::kHbm).peak_reserved; }

std::vector<Bytes> budgets_of(const std::string& hardware) {
  const Bytes everything = peak_of(report_of(hardware, ""));
  const Bytes least = peak_of(report_of(hardware, within("optimal", 1_B)));
  std::vector<Bytes> budgets;
  for (const int eighths : {1, 4, 7}) {
    budgets.emplace_back(least.count + (everything.count - least.count) / 8 * eighths);
  }
  return budgets;
}

}  // namespace

TEST_CASE("hybrid is never slower than recomputing alone or moving alone within its budget") {
  std::size_t faster_than_both = 0;
  for (const std::string rate : {"2 GB/s", "12 GB/s", "50 GB/s"}) {
    const std::string hardware = support::link_of(rate);
    std::vector<Report> moving;
    for (int share = 1; share <= 16; ++share) {
      for (const char* when : {"always", "fits_in_window"}) {
        moving.push_back(report_of(
            hardware, "offload: {activations: {to: host, pool: " + std::to_string(share * 16) +
                          " MB, when: " + when + "}}\n"));
      }
    }
    for (const Bytes budget : budgets_of(hardware)) {
      CAPTURE(rate, budget.count);
      const Report hybrid = report_of(hardware, within("hybrid", budget));
      REQUIRE(hybrid.placement->met);
      CHECK(peak_of(hybrid) <= budget);
      // Nothing else leaves the GPU.
      CHECK(hybrid.traffic[static_cast<std::size_t>(LinkKind::kPcieD2h)] ==
            hybrid.placement->to_host + hybrid.placement->to_ssd);
      const Report alone = report_of(hardware, within("optimal", budget));
      REQUIRE(alone.placement->met);
      CHECK(hybrid.step_time <= alone.step_time);
      bool faster = hybrid.step_time < alone.step_time;
      for (const Report& other : moving) {
        if (peak_of(other) > budget) continue;
        CHECK(hybrid.step_time <= other.step_time);
        faster = faster && hybrid.step_time < other.step_time;
      }
      faster_than_both += faster ? 1 : 0;
    }
  }
  CHECK(faster_than_both >= 3);
}

TEST_CASE("beside an optimizer on the host hybrid is as good as whatever moves unseen there") {
  const std::string host = "offload: {optimizer: host";
  for (const std::string rate : {"12 GB/s", "50 GB/s"}) {
    const std::string hardware = support::link_of(rate);
    std::vector<Report> moving;
    for (const char* prefetch : {"1", "2", "4"}) {
      moving.push_back(report_of(
          hardware,
          host + ", activations: {to: host, when: fits_in_window, prefetch: " + prefetch + "}}\n"));
    }
    const Report alone = report_of(hardware, host + "}\n");
    std::size_t less = 0;
    for (const Report& each : moving) {
      const Bytes budget = peak_of(each);
      if (budget == peak_of(alone)) continue;
      ++less;
      CAPTURE(rate, budget.count);
      const Report hybrid = report_of(hardware, host + "}\n" + within("hybrid", budget));
      REQUIRE(hybrid.placement->met);
      CHECK(hybrid.step_time <= each.step_time);
      CHECK(hybrid.step_time <=
            report_of(hardware, host + "}\n" + within("optimal", budget)).step_time);
    }
    CHECK(less > 0);
  }
}

TEST_CASE(
    "over a link without cost hybrid recomputes nothing, over a hopeless one it moves nothing") {
  const std::string fast =
      ", pcie: {h2d: 100 TB/s, d2h: 100 TB/s, both: 200 TB/s, latency: 0 s}, host: {bandwidth: "
      "1000 TB/s, capacity: 64 GB, issue: 0 s}";
  const std::string slow = support::link_of("1 MB/s");
  const Report keeps = report_of(fast, "");
  const Bytes budget(peak_of(keeps).count * 8 / 10);
  const Report moves = report_of(fast, within("hybrid", budget));
  REQUIRE(moves.placement->met);
  CHECK(moves.recompute == SimTime(0));
  CHECK(moves.placement->to_host > Bytes(0));
  // The launches of copies are all that is left.
  CHECK(moves.step_time <= keeps.step_time + keeps.step_time / 1000);

  const Report hybrid = report_of(slow, within("hybrid", budget));
  const Report optimal = report_of(slow, within("optimal", budget));
  CHECK(hybrid.step_time == optimal.step_time);
  CHECK(hybrid.placement->to_host == Bytes(0));
  CHECK(hybrid.placement->to_ssd == Bytes(0));
}

TEST_CASE("with a caching allocator optimal and hybrid are as good as the planners of chains") {
  const std::string caching = "allocator: caching\n";
  const std::string hardware = support::link_of("12 GB/s");
  const Bytes everything = peak_of(report_of(hardware, caching));
  std::size_t met = 0;
  for (const int percent : {70, 76, 82, 88, 94}) {
    const Bytes budget(everything.count / 100 * percent);
    CAPTURE(percent);
    const Report optimal = report_of(hardware, caching + within("optimal", budget));
    const Report hybrid = report_of(hardware, caching + within("hybrid", budget));
    for (const char* other : {"layered", "rotor+", "rotor"}) {
      const Report rival = report_of(hardware, caching + within(other, budget));
      INFO(other);
      if (!rival.placement->met) continue;
      ++met;
      REQUIRE(optimal.placement->met);
      CHECK(optimal.step_time <= rival.step_time);
      CHECK(hybrid.step_time <= optimal.step_time);
    }
  }
  CHECK(met >= 6);
}

TEST_CASE("what the host has no room for goes to the SSD, and only where it may") {
  const std::string hardware = support::link_of("50 GB/s");
  const Bytes budget = budgets_of(hardware)[1];
  const Report roomy = report_of(hardware, within("hybrid", budget));
  REQUIRE(roomy.placement->met);
  const Bytes moved = roomy.placement->to_host;
  REQUIRE(moved > Bytes(20'000'000));
  CHECK(roomy.placement->to_ssd == Bytes(0));

  const Bytes there = report_of(hardware, "").tier(Tier::kHost).peak;
  const std::string half = std::to_string(there.count + moved.count / 4) + " B";  // of a pass
  const std::string drive =
      ", ssd: {read: 60 GB/s, write: 60 GB/s, sustained: 60 GB/s, both: 120 GB/s, latency: 1 us}";
  const Report both = report_of(support::link_of("50 GB/s", half) + drive,
                                "offload: {ssd_path: direct}\n" + within("hybrid", budget));
  REQUIRE(both.placement->met);
  CHECK(both.fits());
  CHECK(both.placement->to_host > Bytes(0));
  CHECK(both.placement->to_ssd > Bytes(0));

  const Report to_ssd = report_of(hardware, within("hybrid", budget, ", to: ssd"));
  REQUIRE(to_ssd.placement->met);
  CHECK(to_ssd.placement->to_host == Bytes(0));
}

TEST_CASE("the bound of rows that move activations is below what they take longer") {
  scenarios::RunSpec base =
      support::run_of(support::small_step(6, "", support::link_of("25 GB/s"), ""));
  const std::vector<std::string> names{"hybrid", "optimal"};
  const auto rows = policies_to_compare(base, names, budgets_of(support::link_of("25 GB/s")));
  std::vector<scenarios::RunSpec> runs;
  for (const ComparedPolicy& row : rows) runs.push_back(row.run);
  std::size_t moving = 0;
  for (const Compared& row : compare(base, evaluate(base), rows, evaluate_all(runs))) {
    REQUIRE(row.bound.has_value());
    CHECK(*row.bound <= row.over);
    moving += row.moved > Bytes(0) ? 1 : 0;
  }
  CHECK(moving >= 2);
}
