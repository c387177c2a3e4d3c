#include "tools/report.hpp"

#include "graph/op_kind.hpp"
#include "sim/executor.hpp"
#include "tests/scenarios/text.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/program_builder.hpp"
#include "tools/evaluate.hpp"

using namespace tidemark;
using namespace tidemark::tools;

namespace {

// A step of 60 us on one layer, with a copy that holds it up:
//
//   compute    | mm 10 | mm 10 | mm 20 |.. waits 15 ..| mul 5 |
//               forward recompute backward             optimizer
//   copy_out                           |    copy 15   |
//
//   HBM        weight 40 (always), saved 100 (first to third mm), gradient 60 (third mm to copy)
//   host       gradient 60 (from the copy on, stays)
struct Sample {
  StepGraph graph;
  Program program;
  scenarios::RunSpec run;

  explicit Sample(Bytes hbm = Bytes(1000)) {
    add_op(OpKind::kMm, Phase::kForward, WorkClass::kMatmul, Flops(100));
    add_op(OpKind::kMm, Phase::kRecompute, WorkClass::kMatmul, Flops(100));
    add_op(OpKind::kMm, Phase::kBackward, WorkClass::kMatmul, Flops(200));
    add_op(OpKind::kMul, Phase::kOptimizer, WorkClass::kStream, Flops(7));
    graph.ops.push_back({});
    graph.names = {"weight", "saved", "gradient", "copy of gradients"};
    graph.parameter_count = 20;
    graph.model_flops = Flops(300);

    test::ProgramBuilder builder;
    builder.capacity(Tier::kHbm, hbm);
    const BufferId weight = builder.buffer(40_B, Tier::kHbm, Category::kParameters);
    const BufferId saved = builder.buffer(100_B, Tier::kHbm, Category::kActivations);
    const BufferId gradient = builder.buffer(60_B, Tier::kHbm, Category::kGradients);
    const BufferId on_host = builder.buffer(60_B, Tier::kHost, Category::kGradients);
    builder.edit(weight).initial = builder.edit(weight).persistent = true;
    builder.edit(on_host).persistent = true;
    builder.edit(weight).name = NameId(0);
    builder.edit(saved).name = NameId(1);
    builder.edit(gradient).name = builder.edit(on_host).name = NameId(2);
    const InstanceId forward = builder.add(Stream::kCompute, 10_us, {}, {weight, saved});
    const InstanceId again =
        builder.add(Stream::kCompute, 10_us, {forward}, {weight}, Phase::kRecompute);
    const InstanceId backward =
        builder.add(Stream::kCompute, 20_us, {again}, {weight, saved, gradient}, Phase::kBackward);
    const InstanceId copy =
        builder.add(Stream::kCopyOut, 15_us, {backward}, {gradient, on_host}, Phase::kTransfer);
    const InstanceId update =
        builder.add(Stream::kCompute, 5_us, {copy}, {weight}, Phase::kOptimizer);
    builder.edit(forward).op = OpId(0);
    builder.edit(again).op = OpId(1);
    builder.edit(backward).op = OpId(2);
    builder.edit(update).op = OpId(3);
    builder.edit(copy).name = NameId(3);
    for (const InstanceId i : {forward, again, backward}) builder.edit(i).layer = 0;
    program = builder.build();

    run.strategy = "sample";
    run.model.layers = 1;
    run.training.micro_batch = 2;
    run.training.sequence = 10;
    run.training.micro_batches = 3;
    run.machine.gpu.matmul_16bit = FlopRate(10'000'000);
    run.machine.gpu.matmul_32bit = FlopRate(5'000'000);
    run.machine.gpu.launch_latency = SimTime(0);
  }

  void add_op(OpKind kind, Phase phase, WorkClass work, Flops flops) {
    Op op;
    op.kind = kind;
    op.phase = phase;
    op.work = work;
    op.flops = flops;
    graph.ops.push_back(op);
  }

  Report report() const {
    const sim::Result limited = sim::simulate(program);
    const sim::Result free = sim::simulate(program, {{}, sim::Capacity::kIgnored});
    const PlayedStep step{graph, program, limited, limited.out_of_memory ? &free : nullptr};
    return make_report(run, step, step, {});
  }
};

}  // namespace

TEST_CASE("a report tells how long a step takes and what the time goes into") {
  const Report report = Sample().report();
  CHECK(report.fits());
  CHECK(report.step_time == 60_us);
  CHECK(report.compute_busy == 45_us);
  CHECK(report.matmul == 40_us);
  CHECK(report.recompute == 10_us);
  CHECK(report.stalls[static_cast<std::size_t>(sim::StallCause::kPcieD2h)] == 15_us);
  CHECK(report.stalled() == 15_us);
}

TEST_CASE("a report tells what its critical path goes through") {
  const ByResource path = Sample().report().critical_path;  // launches take no time here
  CHECK(path[static_cast<std::size_t>(Resource::kMatmul)] == 30_us);
  CHECK(path[static_cast<std::size_t>(Resource::kRecompute)] == 10_us);
  CHECK(path[static_cast<std::size_t>(Resource::kPcieD2h)] == 15_us);
  CHECK(path[static_cast<std::size_t>(Resource::kStreaming)] == 5_us);
}

TEST_CASE("throughput counts tokens of all micro-batches, utilisation model FLOPs only") {
  Sample sample;
  const Report report = sample.report();
  CHECK(report.tokens == 60);                      // 2 x 10 x 3
  CHECK(report.tokens_per_second == Approx(1e6));  // 60 in 60 us
  CHECK(report.parameters == 20);
  CHECK(report.model_flops == Flops(300));
  CHECK(report.hardware_flops == Flops(400));  // recompute too, but not the optimizer's 7
  CHECK(report.mfu == Approx(0.5));            // 300 of 60 us x 10^7/s = 600
  sample.run.training.precision = Precision::kFp32;
  CHECK(sample.report().mfu == Approx(1.0));  // of the fp32 peak, which is half
}

TEST_CASE("a report tells what each tier holds, and when it holds the most") {
  const Report report = Sample().report();
  const TierReport& hbm = report.tier(Tier::kHbm);
  CHECK(hbm.capacity == 1000_B);
  CHECK(hbm.start == 40_B);
  CHECK(hbm.peak == 200_B);  // 40 + 100 + 60 while backward runs
  CHECK(hbm.end == 40_B);
  CHECK(hbm.live_after == PerPart{140_B, 100_B, 40_B});
  CHECK(hbm.phase_peaks == PerPart{140_B, 200_B, 100_B});
  CHECK(hbm.first_step_peak == 200_B);
  CHECK(hbm.peak_moment.time == 20_us);
  CHECK(hbm.peak_moment.op == "mm");
  CHECK(hbm.peak_moment.phase == Phase::kBackward);
  CHECK(hbm.peak_moment.layer == 0);
  CHECK(hbm.peak_moment.by_category[static_cast<std::size_t>(Category::kActivations)] == 100_B);
  CHECK(hbm.peak_moment.by_category[static_cast<std::size_t>(Category::kGradients)] == 60_B);
  CHECK(hbm.peak_moment.by_category[static_cast<std::size_t>(Category::kParameters)] == 40_B);

  const TierReport& host = report.tier(Tier::kHost);
  CHECK(host.start == 0_B);
  CHECK(host.peak == 60_B);
  CHECK(host.end == 60_B);
  CHECK(host.peak_moment.op == "copy of gradients");
  CHECK(report.tier(Tier::kSsd).peak == 0_B);
}

TEST_CASE("the largest buffers at a peak come with what made and what freed them") {
  const std::vector<Alive> largest = Sample().report().tier(Tier::kHbm).peak_moment.largest;
  REQUIRE(largest.size() == 3);
  CHECK(largest[0].name == "saved");
  CHECK(largest[0].made_by == "mm");
  CHECK(largest[0].freed_by == "mm");
  CHECK(largest[1].name == "gradient");
  CHECK(largest[1].freed_by == "copy of gradients");
  CHECK(largest[2].name == "weight");
  CHECK(largest[2].made_by.empty());
  CHECK(largest[2].freed_by.empty());
}

TEST_CASE("what just fits fits, and a byte less does not") {
  CHECK(Sample(200_B).report().fits());
  CHECK_FALSE(Sample(199_B).report().fits());
}

TEST_CASE("a run that does not fit says where, by how much, and what it would take with enough") {
  const Report report = Sample(150_B).report();
  REQUIRE(report.out_of_memory.has_value());
  CHECK(report.out_of_memory->tier == Tier::kHbm);
  CHECK(report.out_of_memory->op == "mm");
  CHECK(report.out_of_memory->phase == Phase::kBackward);
  CHECK(report.out_of_memory->layer == 0);
  CHECK(report.out_of_memory->requested == 60_B);
  CHECK(report.out_of_memory->free == 10_B);  // 150 - 40 - 100
  CHECK(report.out_of_memory->needed == 200_B);
  CHECK(report.step_time == 60_us);
  CHECK(report.bottleneck.rfind(
            "HBM is short by 50 B, training needs 200 B of 150 B; the first step fails in backward "
            "of layer 0, mm, asking for 60 B (gradient) with 10 B free",
            0) == 0);
}

TEST_CASE("a stall that takes more than a twentieth of the step is called the bottleneck") {
  Sample sample;
  CHECK(sample.report().bottleneck ==
        "the GPU waits for copies to the host (PCIe): 25.0 % of the step (15.0 us of 60.0 us), and "
        "computes for 75.0 %");
  sample.program.instances[3].fixed = 2_us;  // 2 of 47 us
  CHECK(sample.report().bottleneck.rfind("the GPU computes 95.7 % of the step", 0) == 0);
}

TEST_CASE("an update on the CPU is told of with what sets its pace: DRAM or the cores") {
  // 28 bytes and some 12 FLOPs an element: 100 MB/s are 4 million elements a second, 1 MFLOP/s is
  // below 100,000.
  const auto report_on = [](const std::string& host) {
    const scenarios::Scenario scenario = scenarios::load_text(
        "model: {architecture: llama, layers: 1, hidden: 64, heads: 4, ffn: 96, vocab: 100,\n"
        "        max_positions: 32}\n"
        "hardware: {base: a100-80gb-sxm, host: {" +
        host + "}}\nstrategies: [{name: a, offload: {optimizer: host}}]\n");
    return evaluate(scenario.runs.at(0));
  };
  const Report dram = report_on("bandwidth: 100 MB/s, cpu_optimizer: 1 TFLOP/s");
  CHECK(dram.bottleneck.rfind(
            "the GPU waits for the optimizer step on the CPU, which DRAM holds up: ", 0) == 0);
  CHECK(limits_text(dram.critical_path, dram.update_pace).rfind("CPU optimizer (DRAM) ", 0) == 0);
  const Report cores = report_on("bandwidth: 100 MB/s, cpu_optimizer: 1 MFLOP/s");
  CHECK(cores.bottleneck.rfind(
            "the GPU waits for the optimizer step on the CPU, which its cores hold up: ", 0) == 0);
  CHECK(limits_text(cores.critical_path, cores.update_pace).rfind("CPU optimizer (cores) ", 0) ==
        0);
}

TEST_CASE("a run that fits by a hair, or by waiting, is warned of") {
  Report report;
  TierReport& hbm = report.tiers[static_cast<std::size_t>(Tier::kHbm)];
  hbm.capacity = 1000_B;
  hbm.peak = 994_B;
  CHECK(warnings_of(report).empty());
  hbm.first_step_peak = 995_B;
  REQUIRE(warnings_of(report).size() == 1);
  CHECK(warnings_of(report)[0].rfind("HBM is 99.5 % full at its peak, 5 B are left", 0) == 0);
  hbm.first_step_peak = 0_B;
  report.stalls[static_cast<std::size_t>(sim::StallCause::kAllocation)] = 2_us;
  REQUIRE(warnings_of(report).size() == 1);
  CHECK(warnings_of(report)[0].find("copies still hold, 2.00 us a step") != std::string::npos);
  report.out_of_memory = OutOfMemoryReport{};
  CHECK(warnings_of(report).empty());
}
