#include "tools/remedies.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "scenarios/load.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/files.hpp"
#include "tests/support/runs.hpp"
#include "tools/evaluate.hpp"
#include "tools/report.hpp"

using namespace tidemark;
using namespace tidemark::tools;
using scenarios::RunSpec;

namespace {

RunSpec small_run(const std::string& sections) {
  const std::string text =
      "model: {architecture: gpt, layers: 4, hidden: 64, heads: 4, vocab: 128, max_positions: 64}\n"
      "hardware: a100-80gb-sxm\n" +
      sections + "strategies: [{name: only}]\n";
  return support::run_of(text);
}

std::vector<Report> simulate_all(std::span<const RunSpec> runs) {
  return evaluate_all(runs, {.largest = 0});
}

// Whether one of the changes writes `yaml`, such as "checkpoint: full".
bool offers(const std::vector<Change>& changes, const std::string& yaml) {
  return std::ranges::any_of(changes, [&](const Change& change) {
    return as_yaml(std::span(&change, 1)).front() == yaml;
  });
}

std::vector<std::string> yaml_of(const std::vector<Remedy>& remedies) {
  std::vector<std::string> lines;
  for (const Remedy& remedy : remedies) {
    std::string line;
    for (const std::string& part : as_yaml(remedy.changes)) line += part + ";";
    lines.push_back(line);
  }
  return lines;
}

// A world where each phase holds what the run's options say, and every step takes a microsecond or
// more:
//   forward 60, backward 120 (-50 with checkpoint: full), optimizer 150 (-60 on the host, -55 on
//   the SSD) bytes of `capacity`; the host costs 2 us, the SSD 5 us, recomputing 1 us.
struct Invented {
  Bytes capacity = 100_B;
  std::size_t calls = 0;
  bool deep = false;  // instead: 180 bytes, 20 less for each of four changes

  Report report(const RunSpec& run) {
    ++calls;
    Report report;
    TierReport& hbm = report.tiers[static_cast<std::size_t>(Tier::kHbm)];
    hbm.capacity = capacity;
    hbm.phase_peaks = {60_B, 120_B, 150_B};
    report.step_time = 1_us;
    if (deep) {
      const int made = (run.checkpoint_policy == "full") +
                       (run.offload.optimizer == Offload::States::kHost) +
                       (run.kernels.attention == Kernels::Attention::kFlash) +
                       (run.kernels.loss == Kernels::Loss::kNative);
      hbm.phase_peaks = {Bytes(180 - 20 * made)};
      hbm.peak = hbm.phase_peaks[0];
      report.step_time += made * 1_us;
      if (hbm.peak > capacity) {
        report.out_of_memory = OutOfMemoryReport{};
        report.out_of_memory->tier = Tier::kHbm;
        report.out_of_memory->needed = hbm.peak;
      }
      return report;
    }
    if (run.checkpoint_policy == "full") {
      hbm.phase_peaks[1] = 70_B;
      report.step_time += 1_us;
    }
    if (run.offload.optimizer == Offload::States::kHost) {
      hbm.phase_peaks[2] = 90_B;
      report.step_time += 2_us;
    }
    if (run.offload.optimizer == Offload::States::kSsd) {
      hbm.phase_peaks[2] = 95_B;
      report.step_time += 5_us;
    }
    hbm.peak = std::max({hbm.phase_peaks[0], hbm.phase_peaks[1], hbm.phase_peaks[2]});
    if (hbm.peak > capacity) {
      report.out_of_memory = OutOfMemoryReport{};
      report.out_of_memory->tier = Tier::kHbm;
      report.out_of_memory->needed = hbm.peak;
    }
    return report;
  }

  std::optional<Remedies> remedies(const RunSpec& run) {
    const SimulateAll all = [&](std::span<const RunSpec> runs) {
      std::vector<Report> reports;
      for (const RunSpec& each : runs) reports.push_back(report(each));
      return reports;
    };
    const Report as_it_is = report(run);
    calls = 0;
    return find_remedies(run, as_it_is, all);
  }
};

}  // namespace

TEST_CASE("what a change promises is what the loader and a run of the pasted change give") {
  // Weights 14 GB, gradients 14, masters 28 and moments 56 are 112 of 85 GB: only what takes the
  // 84 GB of masters and moments away can help.
  const std::string file = test::source_file("scenarios/7b-on-80gb.yaml");
  const RunSpec run = scenarios::load(file).runs.front();
  REQUIRE(run.strategy == "keep everything");
  const std::optional<Remedies> found = find_remedies(run, evaluate(run), simulate_all);
  REQUIRE(found.has_value());
  CHECK(yaml_of(found->answers) ==
        std::vector<std::string>{"offload: {optimizer: host};", "offload: {optimizer: ssd};"});
  CHECK(found->answers.front().saves == Bytes(84'000'000'000));
  REQUIRE(found->alone.size() > 10);
  for (const Remedy& remedy : found->alone) {
    const RunSpec pasted = scenarios::load(file, remedy.changes.front().overrides).runs.front();
    const Report report = evaluate(pasted);
    INFO(yaml_of({remedy}).front());
    const TierReport& hbm = report.tier(Tier::kHbm);
    CHECK(remedy.fits == report.fits());
    CHECK(remedy.peak == std::max(hbm.peak, hbm.first_step_peak));
    CHECK(remedy.step_time == report.step_time);
    CHECK(remedy.saves == found->needed - remedy.peak);
    CHECK(remedy.costs == report.step_time - found->step_time);
  }
}

TEST_CASE("a run that fits needs no remedy") {
  Invented world;
  world.capacity = 150_B;
  CHECK_FALSE(world.remedies(small_run("")).has_value());
  world.capacity = 149_B;
  CHECK(world.remedies(small_run("")).has_value());
}

TEST_CASE("a single change that fits is the answer, and pairs are not tried") {
  Invented world;
  world.capacity = 120_B;
  const std::optional<Remedies> found = world.remedies(small_run(""));
  CHECK(yaml_of(found->answers) ==
        std::vector<std::string>{"offload: {optimizer: host};", "offload: {optimizer: ssd};"});
  CHECK(found->pairs == 0);
  CHECK(found->answers[0].peak == 120_B);
  CHECK(found->answers[0].saves == 30_B);
  CHECK(found->answers[0].costs == 2_us);
}

TEST_CASE("to the fastest that fits what saves time alone is added") {
  // Every block is recomputed, and the states do not fit: with the states on the host there is room
  // for what blocks save, so that less has to be made again.
  const RunSpec run = scenarios::load(test::source_file("scenarios/7b-on-80gb.yaml")).runs[1];
  REQUIRE(run.checkpoint_policy == "full");
  const std::optional<Remedies> found = find_remedies(run, evaluate(run), simulate_all);
  REQUIRE(!found->answers.empty());
  REQUIRE(found->faster);
  CHECK(found->faster->fits);
  CHECK(found->faster->step_time < found->answers.front().step_time);
  REQUIRE(found->faster->changes.size() == 2);
  CHECK(as_yaml(std::span(found->faster->changes).first(1)) ==
        as_yaml(found->answers.front().changes));
  CHECK(found->additions > 3);
  CHECK(found->simulations == found->alone.size() + found->additions);
  const std::optional<RunSpec> both = with_changes(run, found->faster->changes);
  REQUIRE(both);
  CHECK(evaluate(*both).step_time == found->faster->step_time);
  const std::string text = remedies_text("x", *found, 100);
  CHECK(text.find("faster: the first with one change more") != std::string::npos);
}

TEST_CASE("where no change alone fits, pairs are the answer, cheapest in time first") {
  Invented world;  // 100 bytes: backward needs recomputing, the optimizer has to leave
  const std::optional<Remedies> found = world.remedies(small_run(""));
  CHECK(yaml_of(found->answers) ==
        std::vector<std::string>{"offload: {optimizer: host};checkpoint: full;",
                                 "offload: {optimizer: ssd};checkpoint: full;"});
  CHECK(found->answers[0].peak == 90_B);
  CHECK(found->answers[0].costs == 3_us);
  CHECK(found->triples == 0);
  // The three changes that make a difference are host, SSD and recomputing; the first two exclude
  // each other.
  CHECK(found->pairs == 2);
  CHECK(std::ranges::count_if(found->alone, &Remedy::differs) == 3);
}

TEST_CASE("where no three changes make it fit, the set that needs least is grown") {
  Invented world;
  world.deep = true;
  const std::optional<Remedies> found = world.remedies(small_run("kernels: {loss: fp32}\n"));
  REQUIRE(found->answers.size() == 1);
  CHECK(found->answers.front().changes.size() == 4);
  CHECK(found->answers.front().peak == 100_B);
  CHECK(found->grown > 0);
  world.capacity = 99_B;  // all four do not suffice
  CHECK(world.remedies(small_run("kernels: {loss: fp32}\n"))->answers.empty());
}

TEST_CASE("where nothing helps, the search ends within its bound and says so") {
  Invented world;
  world.capacity = 1_B;
  const std::optional<Remedies> found = world.remedies(small_run("training: {micro_batch: 32}\n"));
  CHECK(found->answers.empty());
  CHECK(found->simulations == world.calls);
  CHECK(world.calls <=
        kMostSingles + kMostPairs + kMostTriples + kMostAdditions + kMostSingles * kMostChanges);
  CHECK(remedies_text("only", *found, 1000).find("nothing that was tried makes it fit") !=
        std::string::npos);
}

TEST_CASE("a change that the architecture or the precision has not is not offered") {
  const std::vector<Change> gpt = changes_for(small_run(""));
  CHECK(offers(gpt, "kernels: {attention: flash}"));
  CHECK(offers(gpt, "kernels: {causal: fused}"));
  CHECK(offers(gpt, "checkpoint: full"));
  CHECK(offers(gpt, "checkpoint: {policy: every-n, n: 2}"));
  CHECK_FALSE(offers(gpt, "checkpoint: {policy: every-n, n: 4}"));  // of 4 blocks: all in one
  CHECK_FALSE(offers(gpt, "kernels: {norm: fused}"));

  const std::vector<Change> fp32 = changes_for(small_run("training: {precision: fp32}\n"));
  CHECK_FALSE(offers(fp32, "kernels: {attention: flash}"));
  CHECK_FALSE(offers(fp32, "kernels: {master_gradients: direct}"));
  CHECK(offers(fp32, "training: {precision: bf16-mixed}"));

  RunSpec llama = small_run("");
  llama.model.architecture = Architecture::kLlama;
  CHECK(offers(changes_for(llama), "kernels: {norm: fused}"));
  CHECK_FALSE(offers(changes_for(llama), "kernels: {causal: fused}"));
}

TEST_CASE(
    "a plan for all of the GPU's memory is offered, of the planners the one that knows most") {
  const std::vector<Change> changes = changes_for(small_run(""));
  CHECK(offers(changes, "checkpoint: optimal"));
  for (const char* worse : {"layered", "rotor", "rotor+", "revolve", "greedy", "dtr", "ilp"}) {
    CHECK_FALSE(offers(changes, std::string("checkpoint: ") + worse));
  }
  CHECK(offers(changes, "checkpoint: min-cut"));
  CHECK(offers(changes, "checkpoint: knapsack"));
}

TEST_CASE("of policies that come to the same segments one is offered, and none that the run has") {
  // 4 blocks: uniform of 2 and sqrt are every-n of 2; block of 4 would be full.
  const std::vector<Change> changes = changes_for(small_run(""));
  CHECK(offers(changes, "checkpoint: {policy: every-n, n: 2}"));
  CHECK_FALSE(offers(changes, "checkpoint: {policy: uniform, n: 2}"));
  CHECK_FALSE(offers(changes, "checkpoint: sqrt"));
  for (const char* n : {"1", "2", "3"}) {
    CHECK(offers(changes, std::string("checkpoint: {policy: block, n: ") + n + "}"));
  }
  CHECK_FALSE(offers(changes, "checkpoint: {policy: block, n: 4}"));
  const std::vector<Change> uniform =
      changes_for(small_run("checkpoint: {policy: uniform, n: 2}\n"));
  CHECK_FALSE(offers(uniform, "checkpoint: {policy: every-n, n: 2}"));
  CHECK(offers(uniform, "checkpoint: full"));
}

TEST_CASE("what takes more memory is offered by what the run does with less") {
  CHECK(loosenings_for(small_run("")).empty());
  CHECK(offers(loosenings_for(small_run("checkpoint: full\n")), "checkpoint: none"));
  const std::vector<Change> host = loosenings_for(small_run("offload: {optimizer: host}\n"));
  for (const char* yaml :
       {"optimizer: gpu", "fraction: 0.9", "fraction: 0.5", "fraction: 0.1", "update_on: gpu"}) {
    CHECK(offers(host, std::string("offload: {") + yaml + "}"));
  }
  const std::vector<Change> half =
      loosenings_for(small_run("offload: {optimizer: host, fraction: 0.5}\n"));
  CHECK_FALSE(offers(half, "offload: {fraction: 0.5}"));
  CHECK(offers(half, "offload: {fraction: 0.4}"));
  // Options that would say nothing then go back to what they are by default.
  CHECK(offers(half, "offload: {optimizer: gpu, fraction: 1}"));
  CHECK(offers(
      loosenings_for(small_run("offload: {optimizer: host, parameters: host, memory: pageable}\n")),
      "offload: {optimizer: gpu, parameters: gpu, memory: pinned}"));
  CHECK(offers(loosenings_for(small_run("offload: {activations: host}\n")),
               "offload: {activations: gpu}"));
  // 2 x 6: halves of 6 are 3, then all in one pass.
  const std::vector<Change> passes =
      loosenings_for(small_run("training: {micro_batch: 2, micro_batches: 6, sequence: 16}\n"));
  CHECK(offers(passes, "training: {micro_batch: 4, micro_batches: 3}"));
  CHECK(offers(passes, "training: {micro_batch: 12, micro_batches: 1}"));
}

TEST_CASE("an update that is a step late or clipped stays where it is") {
  for (const char* option : {"delayed_update", "clip"}) {
    INFO(option);
    const std::vector<Change> changes = loosenings_for(
        small_run(std::string("offload: {optimizer: host, ") + option + ": true}\n"));
    CHECK(std::ranges::none_of(changes, [](const Change& change) {
      return change.overrides.front().key == "offload.optimizer" ||
             change.overrides.front().key == "offload.update_on";
    }));
  }
}

TEST_CASE("what a run does already is not offered") {
  const std::vector<Change> changes =
      changes_for(small_run("checkpoint: full\nkernels: {optimizer: fused, attention: flash}\n"));
  CHECK_FALSE(offers(changes, "checkpoint: full"));
  CHECK_FALSE(offers(changes, "kernels: {optimizer: fused}"));
  CHECK_FALSE(offers(changes, "kernels: {attention: flash}"));
  CHECK(offers(changes, "kernels: {optimizer: single}"));
}

TEST_CASE("settings of the allocator are offered where it is the caching one, added to its own") {
  CHECK_FALSE(
      offers(changes_for(small_run("")), "allocator: {settings: \"expandable_segments:True\"}"));
  const std::vector<Change> changes =
      changes_for(small_run("allocator: {kind: caching, settings: \"max_split_size_mb:64\"}\n"));
  CHECK(
      offers(changes, "allocator: {settings: \"max_split_size_mb:64,expandable_segments:True\"}"));
  CHECK_FALSE(offers(changes, "allocator: {settings: \"max_split_size_mb:128\"}"));
}

TEST_CASE("smaller micro-batches keep the tokens of a step") {
  // 6 x 3: half of 6 is 3, then one at a time; 2 x 3 and 6 x 3 micro-batches.
  const RunSpec run = small_run("training: {micro_batch: 6, micro_batches: 3, sequence: 32}\n");
  const std::vector<Change> changes = changes_for(run);
  CHECK(offers(changes, "training: {micro_batch: 3, micro_batches: 6}"));
  CHECK(offers(changes, "training: {micro_batch: 1, micro_batches: 18}"));
  CHECK(offers(changes, "training: {sequence: 16, micro_batches: 6}"));
  const std::vector<Change> one = changes_for(small_run("training: {sequence: 33}\n"));
  CHECK(std::ranges::none_of(one, [](const Change& change) {
    return change.overrides.front().key == "training.micro_batch" ||
           change.overrides.front().key == "training.sequence";
  }));
}

TEST_CASE("changes of one section share a line, and of one key exclude each other") {
  const Change flash{"", {{"kernels.attention", "flash"}}};
  const Change loss{"", {{"kernels.loss", "native"}}};
  const Change full{"", {{"checkpoint", "full"}}};
  CHECK(as_yaml(std::vector<Change>{flash, full, loss}) ==
        std::vector<std::string>{"kernels: {attention: flash, loss: native}", "checkpoint: full"});
  CHECK_FALSE(exclude_each_other(flash, loss));
  CHECK(exclude_each_other(flash, Change{"", {{"kernels.attention", "eager"}}}));
}

TEST_CASE("changes keep a run's other options, its strategy and its point") {
  RunSpec run = small_run("checkpoint: {policy: every-n, n: 2, reentrant: false}\n");
  run.point = {{"training.micro_batch", "1"}};
  const std::vector<Change> changes = changes_for(run);
  CHECK(offers(changes, "checkpoint: full"));  // in the place of all of it, n included
  const Change flash{"", {{"kernels.attention", "flash"}}};
  const std::optional<RunSpec> changed = with_changes(run, std::span(&flash, 1));
  REQUIRE(changed.has_value());
  CHECK(changed->kernels.attention == Kernels::Attention::kFlash);
  CHECK(changed->checkpoint_policy == "every-n");
  CHECK(changed->checkpointing.segments.size() == 2);
  CHECK_FALSE(changed->checkpointing.reentrant);
  CHECK(changed->strategy == run.strategy);
  CHECK(changed->point == run.point);
}

TEST_CASE("another checkpoint policy keeps the implementation") {
  const std::vector<Change> changes =
      changes_for(small_run("checkpoint: {policy: full, reentrant: false}\n"));
  CHECK(offers(changes, "checkpoint: {policy: every-n, n: 2, reentrant: false}"));
}

TEST_CASE("another policy says whose place it takes, and the first one takes none") {
  const auto selective_of = [](const RunSpec& run) {
    const std::vector<Change> changes = changes_for(run);
    const auto found = std::ranges::find_if(changes, [](const Change& change) {
      return as_yaml(std::span(&change, 1)).front() == "checkpoint: selective";
    });
    REQUIRE(found != changes.end());
    return *found;
  };
  const Change replaces = selective_of(small_run("checkpoint: full\n"));
  CHECK(replaces.instead == "full");
  CHECK(replaces.words.ends_with(", in the place of full"));
  CHECK(selective_of(small_run("")).instead.empty());
}

TEST_CASE("no line of the remedies is wider than it may be") {
  const RunSpec run = scenarios::load(test::source_file("scenarios/7b-on-80gb.yaml")).runs.front();
  const std::string text =
      remedies_text(run.strategy, *find_remedies(run, evaluate(run), simulate_all), 100);
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = text.find('\n', begin);
    CHECK(end - begin <= 100);
    begin = end + 1;
  }
}
