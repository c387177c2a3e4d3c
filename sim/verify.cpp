#include "sim/verify.hpp"

#include <algorithm>

#include "sim/verify_report.hpp"

namespace tidemark::sim {
namespace {

// Without this the other parts could not even read the columns.
void verify_shape(const Program& program, const Result& result, VerifyReport& report) {
  report.expect(result.records.size() == program.instances.size(), Rule::kShape,
                "there should be one record per instance");
  const auto known = [&](InstanceId id) {
    return id == kNoInstance || index(id) < program.instances.size();
  };
  SimTime last{};
  for (const MemoryEvent& event : result.memory) {
    report.expect(index(event.buffer) < program.buffers.size(), Rule::kShape, event.buffer,
                  " of a memory event does not exist");
    report.expect(known(event.instance), Rule::kShape, event.instance,
                  " of a memory event does not exist");
    report.expect(event.time >= last, Rule::kShape, "a memory event at ", event.time,
                  " stands after one at ", last);
    last = event.time;
  }
  for (const Stall& stall : result.stalls) {
    report.expect(known(stall.waiting) && known(stall.blocker), Rule::kShape, "the stall at ",
                  stall.begin, " names an instance that does not exist");
  }
}

void verify_complete(const Program& program, const Result& result, VerifyReport& report) {
  bool all = true;
  for (std::size_t i = 0; i < program.instances.size(); ++i) {
    const InstanceRecord& record = result.records[i];
    const bool ran = record.finish != kNever;
    all = all && ran;
    report.expect((record.start != kNever) == ran, Rule::kComplete,
                  InstanceId(static_cast<std::uint32_t>(i)), " starts or finishes, but not both");
    if (ran || result.out_of_memory) continue;
    report.expect(false, Rule::kComplete, InstanceId(static_cast<std::uint32_t>(i)),
                  " never ran though memory did not run out");
  }
  report.expect(!(all && result.out_of_memory) || program.instances.empty(), Rule::kComplete,
                "memory ran out though every instance ran");
}

}  // namespace

std::vector<Violation> verify(const Program& program, const Result& result,
                              const SimulateOptions& options) {
  VerifyReport report;
  verify_shape(program, result, report);
  if (!report.clean()) return report.take();
  verify_complete(program, result, report);
  verify_time(program, result, report);
  verify_host(program, result, options, report);
  verify_memory(program, result, options, report);
  verify_links(program, result, report);
  verify_stalls(program, result, report);
  std::vector<Violation> violations = report.take();
  for (Violation& violation : verify_timeline(program, result, timeline(program, result))) {
    violations.push_back(std::move(violation));
  }
  return violations;
}

std::vector<Violation> verify_timeline(const Program& program, const Result& result,
                                       const std::vector<Sample>& samples) {
  VerifyReport report;
  if (!report.expect(samples.size() == result.memory.size(), Rule::kCategories,
                     "there should be one sample per memory event")) {
    return report.take();
  }
  std::array<Bytes, kTierCount> level{};
  std::array<std::array<Bytes, kCategoryCount>, kTierCount> sampled{};
  for (std::size_t row = 0; row < samples.size(); ++row) {
    const MemoryEvent& event = result.memory[row];
    const Buffer& buffer = program.buffers[index(event.buffer)];
    const auto tier = static_cast<std::size_t>(buffer.tier);
    level[tier] = event.allocated ? level[tier] + buffer.bytes : level[tier] - buffer.bytes;
    const Sample& sample = samples[row];
    sampled[static_cast<std::size_t>(sample.tier)][static_cast<std::size_t>(sample.category)] =
        sample.bytes;
    Bytes sum;
    for (const Bytes bytes : sampled[tier]) sum += bytes;
    report.expect(sample.time == event.time && sum == level[tier], Rule::kCategories, "at ",
                  event.time, " the categories add up to ", sum, " and the buffers to ",
                  level[tier]);
  }
  return report.take();
}

}  // namespace tidemark::sim
