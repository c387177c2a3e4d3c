#include <algorithm>
#include <array>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "scenarios/load.hpp"
#include "sim/account.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/unpack_columns.hpp"
#include "tools/evaluate.hpp"
#include "tools/out/out.hpp"
#include "tools/report_html/data.hpp"
#include "tools/report_html/levels.hpp"
#include "tools/report_html/library.hpp"
#include "tools/report_html/packed.hpp"
#include "tools/report_html/step_columns.hpp"

namespace tidemark::tools {
std::string report_html(const OutInput& input);
}

using namespace tidemark;
using namespace tidemark::tools;

namespace {

// Its runs, played; `input` points into it.
struct Played {
  std::vector<scenarios::RunSpec> runs;
  std::vector<Report> reports;
  std::vector<KeptSteps> kept;
  OutInput input;

  explicit Played(const std::string& yaml) {
    runs = scenarios::load(
               std::make_shared<const scenarios::Source>(scenarios::Source{"scenario.yaml", yaml}))
               .runs;
    reports = evaluate_all(runs, {}, {}, &kept);
    input.title = "a title";
    for (std::size_t i = 0; i < runs.size(); ++i) {
      OutRun run;
      run.label = label_of(runs[i], "");
      run.spec = &runs[i];
      run.report = &reports[i];
      run.steps = &kept[i];
      input.runs.push_back(run);
    }
  }
  Played(const Played&) = delete;
};

const std::string kSmall =
    "model: {architecture: gpt, layers: 3, hidden: 64, heads: 2, vocab: 500, max_positions: 64}\n"
    "training: {micro_batch: 2, sequence: 64}\n"
    "hardware: a100-80gb-sxm\n"
    "strategies:\n"
    "  - name: keep\n"
    "  - name: optimizer on the host\n"
    "    offload: {optimizer: host}\n";

const std::string kSevenBillion =
    "model: gpt-7b\n"
    "training: {micro_batch: 1, sequence: 2048, precision: bf16-mixed, optimizer: adamw}\n"
    "hardware: a100-80gb-sxm\n"
    "strategies:\n"
    "  - name: everything\n"
    "  - {name: host, checkpoint: full, offload: {optimizer: host}}\n";

std::vector<LevelPoint> points(std::initializer_list<std::array<std::int64_t, 2>> rows) {
  std::vector<LevelPoint> levels;
  for (const auto& [time, level] : rows) levels.push_back({SimTime(time), Bytes(level)});
  return levels;
}

std::vector<std::array<std::int64_t, 2>> rows_of(const std::vector<LevelPoint>& levels) {
  std::vector<std::array<std::int64_t, 2>> rows;
  for (const LevelPoint& point : levels) rows.push_back({point.time.count(), point.level.count});
  return rows;
}

}  // namespace

TEST_CASE("a plan that misses its budget is told to the page, and what is trained at a point") {
  const Played played(
      "model: {architecture: gpt, layers: 3, hidden: 64, heads: 2, vocab: 500, max_positions: 64}\n"
      "training: {sequence: 64}\n"
      "hardware: a100-80gb-sxm\n"
      "sweep: {training.micro_batch: [2, 4]}\n"
      "strategies:\n"
      "  - {name: met, checkpoint: {policy: layered, budget: 80 GB}}\n"
      "  - {name: missed, checkpoint: {policy: layered, budget: 1 MB}}\n");
  const auto data = nlohmann::json::parse(report_data(played.input));
  const auto& runs = data["runs"];
  REQUIRE(runs.size() == 4);
  for (const std::size_t point : {0u, 2u}) {
    CHECK(runs[point]["missed"] == false);
    CHECK(runs[point]["budget"] == nullptr);  // compare's alone
    CHECK(runs[point + 1]["missed"] == true);
    CHECK(runs[point + 1]["budget"] == 1'000'000);
  }
  CHECK(runs[0]["work"] == "micro_batch 2");
  CHECK(runs[3]["work"] == "micro_batch 4");
}

TEST_CASE("packed columns are read back as they were") {
  std::vector<std::int64_t> repeating, large;
  for (int i = 0; i < 1000; ++i) repeating.push_back(i % 7 == 3 ? -1 : 4'000'000'000);
  for (int i = 0; i < 300; ++i) large.push_back((std::int64_t{1} << 52) - i * i);
  PackedColumns packed;
  packed.add(repeating);
  packed.add(differences(large));
  packed.add(std::vector<std::int64_t>{});
  packed.add(std::vector<std::int64_t>{0, -1, 1, 63, 64, -64, -65, 127, 128});
  packed.add_text("mm\nwte.weight");
  test::UnpackedColumns unpacked(packed.base64());
  CHECK(unpacked.column() == repeating);
  CHECK(unpacked.sums() == large);
  CHECK(unpacked.column().empty());
  CHECK(unpacked.column() == std::vector<std::int64_t>{0, -1, 1, 63, 64, -64, -65, 127, 128});
  CHECK(unpacked.text() == "mm\nwte.weight");
  CHECK(unpacked.at_end());
}

TEST_CASE("columns that repeat pack into little") {
  // 100 layers of 50 kernels each, alike: 5000 numbers of 4 bytes, of which 200 bytes say all.
  std::vector<std::int64_t> column;
  for (int i = 0; i < 5000; ++i) column.push_back(1'000'000 + i % 50 * 37'000);
  PackedColumns packed;
  packed.add(column);
  CHECK(packed.base64().size() < 600);
}

TEST_CASE("downsampling keeps the lowest, the highest and the last level of each part") {
  // Two parts of [0, 100]. In the first: lowest 1 at 20, highest 9 at 30, last 5 at 49. In the
  // second the peak, for no time at all, then 2 until the end.
  const auto levels = points({{0, 4},
                              {10, 6},
                              {20, 1},
                              {30, 9},
                              {40, 3},
                              {49, 5},
                              {50, 7},
                              {60, 12},
                              {60, 6},
                              {70, 8},
                              {90, 3},
                              {100, 2}});
  using Rows = std::vector<std::array<std::int64_t, 2>>;
  CHECK(rows_of(downsample(levels, SimTime(100), 2)) ==
        Rows{{20, 1}, {30, 9}, {49, 5}, {60, 12}, {100, 2}});
}

TEST_CASE("downsampling into many parts leaves everything as it is") {
  const auto levels = points({{0, 4}, {10, 6}, {20, 1}, {99, 3}});
  CHECK(rows_of(downsample(levels, SimTime(100), 50)) == rows_of(levels));
  CHECK(downsample({}, SimTime(100), 4).empty());
  CHECK(rows_of(downsample(levels, SimTime(0), 4)) ==
        rows_of(points({{10, 6}, {20, 1}, {99, 3}})));  // a step without time is one part
}

TEST_CASE("however few parts there are, the peak of a step is among what is kept") {
  const Played played(kSmall);
  for (std::size_t run = 0; run < played.runs.size(); ++run) {
    const PlayedStep step = played.kept[run].steady();
    for (const Tier tier : {Tier::kHbm, Tier::kHost}) {
      const auto all = levels_of(step.program, step.whole(), tier);
      for (const std::size_t buckets : {1u, 2u, 17u, 300u}) {
        const auto kept = downsample(all, step.whole().end, buckets);
        Bytes highest;
        for (const LevelPoint& point : kept) highest = std::max(highest, point.level);
        CHECK(highest == played.reports[run].tier(tier).peak);
        CHECK(kept.size() <= 3 * buckets);
      }
    }
  }
}

TEST_CASE("a report's columns hold every instance, event and stall of the step") {
  const Played played(kSmall);
  const PlayedStep step = played.kept[1].steady();
  const sim::Result& result = step.whole();
  test::UnpackedColumns columns(step_columns(step));

  const auto stream = columns.column();
  const auto phase = columns.column();
  const auto name = columns.column();
  const auto layer = columns.sums();
  const auto start = columns.sums();
  const auto duration = columns.column();
  REQUIRE(stream.size() == step.program.instances.size());
  REQUIRE(layer.size() == stream.size());
  CHECK(std::ranges::is_sorted(start));
  SimTime computing{};
  for (std::size_t i = 0; i < stream.size(); ++i) {
    if (stream[i] == static_cast<std::int64_t>(Stream::kCompute)) computing += SimTime(duration[i]);
  }
  CHECK(computing == result.compute_busy);

  const auto kind = columns.column();
  const auto buffer_name = columns.column();
  columns.sums();  // layers of buffers
  const auto bytes = columns.column();
  const auto what = columns.column();
  const auto time = columns.sums();
  const auto instance = columns.sums();
  REQUIRE(what.size() == result.memory.size());

  // Played again from the columns alone, the peak and its categories are those of the account.
  const sim::Account account = sim::account(step.program, result);
  std::array<sim::Level, kTierCount> levels, peaks;
  std::int64_t next = 0;
  for (std::size_t e = 0; e < what.size(); ++e) {
    const auto buffer = static_cast<std::size_t>(what[e] == 0 ? next++ : next - what[e]);
    const Bytes change(what[e] == 0 ? bytes[buffer] : -bytes[buffer]);
    sim::Level& level = levels[static_cast<std::size_t>(kind[buffer] % kTierCount)];
    level.total += change;
    level.by_category[static_cast<std::size_t>(kind[buffer] / kTierCount)] += change;
    sim::Level& peak = peaks[static_cast<std::size_t>(kind[buffer] % kTierCount)];
    if (level.total > peak.total) peak = level;
    CHECK(time[e] == result.memory[e].time.count());
  }
  for (std::size_t t = 0; t < kTierCount; ++t) {
    CHECK(peaks[t].total == account.tiers[t].peak.level.total);
    CHECK(peaks[t].by_category == account.tiers[t].peak.level.by_category);
  }

  const auto begin = columns.sums();
  const auto waited = columns.column();
  const auto cause = columns.column();
  const auto waiting = columns.sums();
  const auto blocker = columns.sums();
  REQUIRE(begin.size() == result.stalls.size());
  std::array<SimTime, sim::kStallCauseCount> stalls{};
  for (std::size_t s = 0; s < begin.size(); ++s) {
    stalls[static_cast<std::size_t>(cause[s])] += SimTime(waited[s]);
  }
  CHECK(stalls == played.reports[1].stalls);

  // Names: the first of the compute stream reads the token embedding, as the graph has it.
  const std::string names = columns.text();
  CHECK(columns.at_end());
  const auto rows = std::ranges::count(names, '\n') + 1;
  CHECK(*std::ranges::max_element(name) < rows);
  CHECK(*std::ranges::max_element(buffer_name) < rows);
  CHECK(*std::ranges::max_element(instance) <= static_cast<std::int64_t>(stream.size()));
  CHECK(phase.size() == stream.size());
}

TEST_CASE("the figures of a report are those of the run") {
  const Played played(kSmall);
  const auto data = nlohmann::json::parse(report_data(played.input));
  // A fill for each name, as the figures of `tidemark plot` have it.
  const auto& words = data.at("words");
  const auto& looks = words.at("looks");
  REQUIRE(looks.at("categories").size() == words.at("categories").size());
  REQUIRE(looks.at("causes").size() == words.at("causes").size());
  CHECK(looks.at("categories")[0] ==
        nlohmann::json{{"color", "#0072b2"}, {"hatch", "none"}});  // parameters
  CHECK(looks.at("recompute").at("hatch") == "up");
  REQUIRE(data.at("runs").size() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    const auto& run = data.at("runs")[i];
    const Report& report = played.reports[i];
    CHECK(run.at("label") == report.strategy);
    CHECK(run.at("step") == report.step_time.count());
    std::int64_t stalls = 0;
    for (const auto& stall : run.at("stalls")) stalls += stall.get<std::int64_t>();
    CHECK(run.at("busy").get<std::int64_t>() + stalls == report.step_time.count());
    for (std::size_t t = 0; t < kTierCount; ++t) {
      const auto& tier = run.at("tiers")[t];
      CHECK(tier.at("peak") == report.tiers[t].peak.count);
      std::int64_t sum = 0;
      for (const auto& bytes : tier.at("by_category")) sum += bytes.get<std::int64_t>();
      CHECK(sum == report.tiers[t].peak.count);
      test::UnpackedColumns overview(tier.at("overview").get<std::string>());
      overview.sums();
      const auto levels = overview.sums();
      if (report.tiers[t].peak.count > 0) {
        CHECK(*std::ranges::max_element(levels) == report.tiers[t].peak.count);
      }
    }
  }
}

TEST_CASE("with a caching allocator a report has what is reserved over time, up to its peak") {
  const Played played(kSmall + "allocator: caching\n");
  const auto tier = nlohmann::json::parse(report_data(played.input)).at("runs")[0].at("tiers")[0];
  test::UnpackedColumns columns(tier.at("reserved_levels").get<std::string>());
  const auto times = columns.sums();
  const auto levels = columns.sums();
  REQUIRE(!levels.empty());
  CHECK(times.front() == 0);
  CHECK(*std::ranges::max_element(levels) ==
        played.reports[0].tier(Tier::kHbm).peak_reserved.count);
  CHECK(*std::ranges::max_element(levels) > tier.at("peak").get<std::int64_t>());
}

TEST_CASE(
    "a report says what better figures of the machine would save, those that save most first") {
  const Played played(kSmall);
  const auto effects = nlohmann::json::parse(report_data(played.input)).at("runs")[0].at("effects");
  REQUIRE(!effects.empty());
  // Kernels this small wait for the host that issues them, and for nothing that moves bytes.
  CHECK(effects[0].at("figure") == "host's issue of operations");
  for (std::size_t i = 1; i < effects.size(); ++i) {
    CHECK(effects[i - 1].at("saves").get<std::int64_t>() >=
          effects[i].at("saves").get<std::int64_t>());
  }
  for (const auto& effect : effects) {
    CHECK(effect.at("figure").get<std::string>().find("NVMe") == std::string::npos);
  }
}

TEST_CASE("no text of a scenario can end the script or the page's title") {
  Played played(kSmall);
  played.input.title = "</title><script>alert(1)</script> & \"more\"";
  played.input.runs[0].label = "</script><!--<script>";
  const std::string data = report_data(played.input);
  CHECK(data.find('<') == std::string::npos);
  CHECK(nlohmann::json::parse(data).at("runs")[0].at("label") == "</script><!--<script>");
  if (echarts_script().empty()) return;
  const std::string page = report_html(played.input);
  CHECK(page.find("<script>alert") == std::string::npos);
  CHECK(page.find(
            "<title>&lt;/title&gt;&lt;script&gt;alert(1)&lt;/script&gt; &amp; &quot;more&quot;") !=
        std::string::npos);
}

TEST_CASE("a report of a 7B step is one file under 3 MB, the same each time, and fetches nothing") {
  if (echarts_script().empty()) {
    WARN("this build is without ECharts: report.html is not tested");
    return;
  }
  const Played played(kSevenBillion);
  const std::string page = report_html(played.input);
  CHECK(page.size() < 3'000'000);
  CHECK(page == report_html(Played(kSevenBillion).input));
  // Nothing outside: no element of the page loads anything; the library has markup in strings.
  std::string markup = page;
  markup.erase(markup.find(echarts_script()), echarts_script().size());
  for (const char* loads : {"<script src", "<link", "<img", "<iframe", "@import", "@font-face"}) {
    INFO(loads);
    CHECK(markup.find(loads) == std::string::npos);
  }
  CHECK(page.find("Apache License") != std::string::npos);
  CHECK(page.find(echarts_script()) != std::string::npos);
}
