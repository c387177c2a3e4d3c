// Runs with `allocator: caching`, from the scenario to the report.

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "scenarios/load.hpp"
#include "sim/allocators/caching_settings.hpp"
#include "tests/support/catch.hpp"
#include "tools/allocator_report.hpp"
#include "tools/evaluate.hpp"
#include "tools/formats/format.hpp"
#include "tools/steps.hpp"

using namespace tidemark;
using namespace tidemark::tools;

namespace {

scenarios::RunSpec run_of(const std::string& text) {
  const auto source =
      std::make_shared<const scenarios::Source>(scenarios::Source{"test.yaml", text});
  return scenarios::load(source).runs.at(0);
}

// GPT-2 124M on 24 GB, every block a checkpoint: 22.8 GB live at most.
scenarios::RunSpec gpt2(const std::string& allocator, int micro_batch = 32) {
  return run_of(
      "name: test\nmodel: gpt2-124m\ntraining: {micro_batch: " + std::to_string(micro_batch) +
      ", sequence: 1024, precision: bf16-mixed}\n"
      "hardware: rtx-4090\ncheckpoint: full\nallocator: " +
      allocator + "\nstrategies: [{name: only}]\n");
}

Report tried(const scenarios::RunSpec& run) {
  return evaluate(run, {.largest = 0, .try_settings = true});
}

const TierReport& hbm(const Report& report) { return report.tier(Tier::kHbm); }

bool mentions(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

nlohmann::json json_of(const Report& report) {
  const std::vector<ScenarioReports> all = {{"test", {report}}};
  return nlohmann::json::parse(find_format("json").write(all, {}))["runs"][0];
}

std::string text_of(const Report& report) {
  const std::vector<ScenarioReports> all = {{"test", {report}}};
  std::string text = find_format("text").write(all, {});
  for (std::size_t at = 0; (at = text.find("\n  ", at)) != std::string::npos;) {
    text.replace(at, 3, " ");  // wrapped lines are one again
  }
  return text;
}

// Column peak_rounded_512 of a published measurement with PyTorch's autograd: the most that lived,
// every tensor in whole units of 512 B. The other columns stand in tests/data/autograd.
struct RoundedPeak {
  const char* name;
  const char* training;
  const char* kernels;
  const char* checkpoint;
  std::int64_t bytes;
};

constexpr RoundedPeak kSeed7b[] = {
    {"b4-ck1", "micro_batch: 4", "optimizer: single", "{policy: every-n, n: 1}", 121917506048},
    {"b1-ck1", "micro_batch: 1", "optimizer: single", "{policy: every-n, n: 1}", 121917358592},
    {"b1-ck4", "micro_batch: 1", "optimizer: single", "{policy: every-n, n: 4}", 121917358592},
    {"s4096", "sequence: 4096", "optimizer: single", "none", 199951893504},
    {"fp32-b1", "precision: fp32", "optimizer: single", "none", 138341549056},
    {"b1-foreach", "micro_batch: 1", "optimizer: foreach", "none", 174586331648},
    {"b1-foreach2x", "micro_batch: 1", "optimizer: foreach2x", "none", 147727548928},
    {"b1-keepgrad", "micro_batch: 1", "zero_grad: keep", "none", 165729240064},
};

scenarios::RunSpec seed7b(const RoundedPeak& row, const std::string& settings) {
  const std::string training = row.training;
  std::string text =
      "name: rounded\n"
      "model: {architecture: gpt, layers: 32, hidden: 4096, heads: 32, ffn: 16384, vocab: 32000, "
      "max_positions: ";
  text += mentions(training, "4096") ? "4096" : "2048";
  text += ", tied_embeddings: false, dropout: 0.1}\ntraining: {" + training;
  for (const auto& [key, value] : std::vector<std::pair<std::string, std::string>>{
           {"micro_batch", "1"}, {"sequence", "2048"}, {"precision", "bf16-mixed"}}) {
    if (!mentions(training, key)) text += ", " + key + ": " + value;
  }
  text += std::string("}\nkernels: {loss: fp32, keep_logits: false, ") + row.kernels +
          "}\ncheckpoint: " + row.checkpoint +
          "\nhardware: {base: h200, hbm: {capacity: 1 TB}, runtime: {context: 0 B, workspace: 0 "
          "B}}\nallocator: {kind: caching, settings: \"" +
          settings + "\"}\nstrategies: [{name: only}]\n";
  return run_of(text);
}

}  // namespace

TEST_CASE("what the allocator allocates at most is what autograd had alive, rounded to 512 B") {
  for (const RoundedPeak& row : kSeed7b) {
    CAPTURE(row.name);
    // Growing segments are split to the last 512 B.
    const Report exact = evaluate(seed7b(row, "expandable_segments:True"));
    CHECK(exact.allocator.steady.allocated_peak == Bytes(row.bytes));
    CHECK(exact.allocator.steady.active_peak == Bytes(row.bytes));
    CHECK(hbm(exact).peak <= Bytes(row.bytes));
    // Otherwise a block may be up to 1 MiB larger: of some thousand tensors of 100 MB, not 1 %.
    const Report report = evaluate(seed7b(row, "max_split_size_mb:1000000"));
    CHECK(report.allocator.steady.allocated_peak >= Bytes(row.bytes));
    CHECK(report.allocator.steady.allocated_peak <= Bytes(row.bytes / 100 * 101));
    CHECK(report.allocator.steady.reserved_peak >= report.allocator.steady.allocated_peak);
  }
}

TEST_CASE("the ideal allocator reserves what lives, and asks no driver") {
  const Report report = tried(gpt2("ideal"));
  CHECK(report.fits());
  CHECK(report.allocator.kind == "ideal");
  CHECK_FALSE(report.allocator.keeps_cache);
  CHECK(hbm(report).peak_reserved == hbm(report).peak);
  CHECK(report.allocator.steady.fragmentation_at_peak == 0_B);
  CHECK(report.allocator.first_step.driver_allocations == 0);
  CHECK_FALSE(mentions(text_of(report), "reserved at most"));
}

TEST_CASE("a steady step has the cache that the first one paid for") {
  const Report report = tried(gpt2("caching", 4));
  REQUIRE(report.fits());
  CHECK(report.allocator.first_step.driver_allocations > 20);
  CHECK(report.allocator.first_step.driver_time > 20 * 140_us);
  CHECK(report.allocator.steady.driver_allocations == 0);
  CHECK(report.allocator.steady.driver_time == 0_us);
  CHECK(report.stalls[static_cast<std::size_t>(sim::StallCause::kAllocatorCall)] == 0_us);
  CHECK(report.step_time == tried(gpt2("ideal", 4)).step_time);
  // The context of the GPU is in the peak, and no segment of the allocator.
  const Bytes context =
      hbm(report).peak_moment.by_category[static_cast<std::size_t>(Category::kRuntime)];
  CHECK(context > 0_B);
  CHECK(hbm(report).peak_reserved == report.allocator.steady.reserved_peak + context);
  CHECK(hbm(report).peak_reserved > hbm(report).peak);
}

TEST_CASE("every buffer with which a steady step begins is one that the step before it left") {
  for (const char* const more : {"", "offload: {optimizer: host}\n", "kernels: {zero_grad: keep}\n",
                                 "training: {precision: autocast}\n"}) {
    CAPTURE(more);
    std::string text =
        "name: test\nmodel: gpt2-124m\nhardware: rtx-4090\nallocator: caching\n"
        "strategies: [{name: only}]\n";
    const Steps steps(run_of(text + more));
    const auto everything_kept = [](const PlannedStep& step) {
      std::vector<sim::KeptBuffer> kept;
      for (std::uint32_t b = 0; b < step.program.buffers.size(); ++b) {
        const Buffer& buffer = step.program.buffers[b];
        if (buffer.persistent && buffer.tier == Tier::kHbm) kept.push_back({BufferId{b}, b + 1u});
      }
      return kept;
    };
    const auto initial = [](const PlannedStep& step) {
      return std::ranges::count_if(step.program.buffers, [](const Buffer& buffer) {
        return buffer.initial && buffer.tier == Tier::kHbm;
      });
    };
    for (const PlannedStep* const before : {&steps.first(), &steps.steady()}) {
      std::vector<sim::KeptBuffer> left;
      const std::vector<sim::KeptBuffer> kept = everything_kept(*before);
      const std::vector<sim::KeptBuffer> carried =
          carried_over(*before, kept, steps.steady(), left);
      CHECK(std::ssize(carried) == initial(steps.steady()));
      CHECK(left.empty());
      for (const sim::KeptBuffer& buffer : carried) {
        const Buffer& was = before->program.buffers[buffer.handle - 1];
        const Buffer& is = steps.steady().program.buffers[index(buffer.buffer)];
        REQUIRE(name_of(*before, was) == name_of(steps.steady(), is));
        REQUIRE(was.bytes == is.bytes);
      }
    }
  }
}

TEST_CASE("a cache in pieces fails in the second step, in PyTorch's words, and a setting helps") {
  const Report report = tried(gpt2("caching"));
  REQUIRE(report.out_of_memory);
  const OutOfMemoryReport& oom = *report.out_of_memory;
  CHECK_FALSE(oom.first_step);
  CHECK(oom.tier == Tier::kHbm);
  CHECK(oom.needed_live < hbm(report).capacity);
  CHECK(oom.needed > hbm(report).capacity);
  CHECK(oom.needed == hbm(report).peak_reserved);
  CHECK(oom.needed_live == hbm(report).peak);
  // 32 x 1024 tokens x 50257 words x 4 B: 6.14 GiB.
  CHECK(oom.requested == Bytes(std::int64_t{32} * 1024 * 50257 * 4));
  CHECK(oom.message.rfind("CUDA out of memory. Tried to allocate 6.14 GiB. GPU 0 has a total "
                          "capacity of 23.64 GiB of which ",
                          0) == 0);
  REQUIRE(oom.settings);
  CHECK(oom.settings->ideal_fits);
  CHECK(oom.settings->tried == 1);
  CHECK(oom.settings->fits == "expandable_segments:True");
  CHECK(tried(gpt2("{kind: caching, settings: \"expandable_segments:True\"}")).fits());

  CHECK(report.bottleneck.rfind("HBM is too fragmented: 22.8 GB of 25.4 GB live at most", 0) == 0);
  const std::string text = text_of(report);
  CHECK(mentions(text, "only: CUDA out of memory. Tried to allocate 6.14 GiB."));
  CHECK(mentions(text, "it fits with expandable_segments:True (tried: 1 of 12 settings)"));
  const nlohmann::json json = json_of(report)["out_of_memory"];
  CHECK(json["message"] == oom.message);
  CHECK(json["needed_bytes"] == oom.needed.count);
  CHECK(json["needed_live_bytes"] == oom.needed_live.count);
  CHECK(json["allocator_settings"]["fits"] == "expandable_segments:True");
  CHECK(json["allocator_settings"]["tried"] == 1);
}

TEST_CASE(
    "settings are tried only where they are asked for, and not where bytes alone are too many") {
  CHECK_FALSE(evaluate(gpt2("caching")).out_of_memory->settings);
  const Report report = tried(gpt2("caching", 64));
  REQUIRE(report.out_of_memory);
  CHECK_FALSE(report.out_of_memory->settings->ideal_fits);
  CHECK(report.out_of_memory->settings->tried == 0);
  CHECK(mentions(text_of(report), "without any fragmentation it does not fit either"));
  CHECK(json_of(report)["out_of_memory"]["allocator_settings"]["fits"].is_null());
}

TEST_CASE("settings that are tried keep the user's own, and leave out what cannot go with them") {
  // A limit of the user's own: 23 GB, which nothing can stay below.
  const Report limited =
      tried(gpt2("{kind: caching, settings: \"per_process_memory_fraction:0.87\"}"));
  REQUIRE(limited.out_of_memory);
  CHECK(limited.out_of_memory->settings->ideal_fits);
  CHECK(mentions(limited.out_of_memory->message, " allowed; "));
  CHECK(limited.out_of_memory->settings->fits.empty());
  CHECK(limited.out_of_memory->settings->tried == 7);  // of 12, 5 need a limit of their own
  CHECK(mentions(text_of(limited), "with none of 7 other settings"));
}

TEST_CASE("the figures of the allocator stand in every format under their names") {
  const Report report = tried(gpt2("caching", 4));
  const AllocatorFigures& steady = report.allocator.steady;
  const nlohmann::json json = json_of(report);
  const nlohmann::json allocator = json["ranks"][0]["allocator"];
  CHECK(json["ranks"][0]["tiers"]["hbm"]["peak_reserved_bytes"] == hbm(report).peak_reserved.count);
  CHECK(allocator["kind"] == "caching");
  CHECK(allocator["allocated_peak_bytes"] == steady.allocated_peak.count);
  CHECK(allocator["active_peak_bytes"] == steady.active_peak.count);
  CHECK(allocator["reserved_peak_bytes"] == steady.reserved_peak.count);
  CHECK(allocator["inactive_split_peak_bytes"] == steady.inactive_split_peak.count);
  CHECK(allocator["fragmentation_at_peak_bytes"] == steady.fragmentation_at_peak.count);
  CHECK(allocator["driver_allocations"] == 0);
  CHECK(allocator["driver_frees"] == 0);
  CHECK(allocator["retries"] == 0);
  CHECK(allocator["driver_time_s"] == 0.0);
  CHECK(allocator["first_step"]["driver_allocations"] ==
        report.allocator.first_step.driver_allocations);
  CHECK(json["out_of_memory"].is_null());

  const std::vector<ScenarioReports> all = {{"test", {report}}};
  const std::string csv = find_format("csv").write(all, {});
  CHECK(mentions(csv,
                 ",allocator,allocator_allocated_peak_bytes,allocator_active_peak_bytes,"
                 "allocator_reserved_peak_bytes,allocator_inactive_split_peak_bytes,"
                 "allocator_fragmentation_at_peak_bytes,allocator_driver_allocations,"
                 "allocator_driver_frees,allocator_retries,allocator_driver_time_s\n"));
  CHECK(mentions(csv, ",caching," + std::to_string(steady.allocated_peak.count) + ","));
  CHECK(mentions(text_of(report), " in the first step, no driver calls in a steady one"));
}

TEST_CASE("settings to try are settings that hold, each different") {
  const auto settings = settings_to_try();
  CHECK(settings.size() == 12);
  for (std::size_t i = 0; i < settings.size(); ++i) {
    CAPTURE(settings[i]);
    CHECK(sim::parse_caching_settings(settings[i]).errors.empty());
    CHECK(std::ranges::count(settings, settings[i]) == 1);
  }
}

TEST_CASE("a run whose buffers are placed ahead takes as long as an ideal one, and says how near") {
  const auto report_with = [](const std::string& allocator) {
    const std::string text =
        "model: {architecture: gpt, layers: 3, hidden: 64, heads: 4, vocab: 128, max_positions: "
        "64}\nhardware: a100-80gb-sxm\n" +
        allocator + "strategies: [{name: only}]\n";
    return evaluate(scenarios::load(std::make_shared<const scenarios::Source>(
                                        scenarios::Source{"small.yaml", text}))
                        .runs.front());
  };
  const Report ideal = report_with("");
  const Report placed = report_with("allocator: planned\n");
  CHECK(placed.step_time == ideal.step_time);
  REQUIRE(placed.allocator.steady.placement.has_value());
  const sim::PlacementFigures& figures = *placed.allocator.steady.placement;
  CHECK(figures.bound == ideal.tier(Tier::kHbm).peak);
  CHECK(placed.allocator.steady.reserved_peak >= figures.bound);
  CHECK(placed.allocator.steady.reserved_peak <= figures.greedy);
  CHECK(placed.tier(Tier::kHbm).peak == ideal.tier(Tier::kHbm).peak);
  CHECK_FALSE(ideal.allocator.steady.placement.has_value());
  const std::string text =
      find_format("text").write(std::vector{ScenarioReports{"x", {placed}}}, {});
  CHECK(text.find("only: placed in ") != std::string::npos);
}

TEST_CASE("places that end beyond the capacity are told as that, not as bytes that are missing") {
  const auto report_with = [](Bytes capacity) {
    return evaluate(
        run_of("model: {base: gpt2-1.5b, layers: 12}\n"
               "training: {micro_batch: 2, sequence: 1024, precision: bf16-mixed}\n"
               "hardware: {base: rtx-4090, hbm: {capacity: " +
               std::to_string(capacity.count) +
               " B}}\ncheckpoint: full\noffload: {optimizer: host}\n"
               "allocator: planned\nstrategies: [{name: only}]\n"));
  };
  // The best places that are found end above what lives at once: a capacity between the two has
  // room for every byte, and waits for none.
  const Report whole = report_with(24_GB);
  REQUIRE(whole.fits());
  const sim::PlacementFigures& figures = *whole.allocator.steady.placement;
  CHECK(figures.end == whole.allocator.steady.reserved_peak);
  REQUIRE(figures.end > figures.bound + Bytes(7));
  CHECK(report_with(figures.end).fits());
  const Report short_of = report_with(figures.end - Bytes(7));
  REQUIRE_FALSE(short_of.fits());
  CHECK(short_of.out_of_memory->needed == figures.end);
  REQUIRE(short_of.out_of_memory->placed.has_value());
  CHECK(short_of.out_of_memory->placed->end == figures.end);
  CHECK(short_of.out_of_memory->placed->bound == figures.bound);
  const std::string& why = short_of.bottleneck;
  CAPTURE(why);
  CHECK(why.find("the places computed for HBM end 7 B beyond its 2.8 GB, though no more than "
                 "2.8 GB live at once; the first step fails in ") == 0);
  CHECK(why.find(") would lie beyond; most is ") != std::string::npos);
  CHECK(why.find("free") == std::string::npos);
  // Below what lives at once, bytes are missing whatever their places.
  const Report less = report_with(figures.bound - Bytes(400'000'000));
  REQUIRE_FALSE(less.fits());
  CHECK_FALSE(less.out_of_memory->placed.has_value());
  CHECK(less.bottleneck.find("HBM is short by ") == 0);
}
