// Whether the stalls fill exactly the gaps of the compute stream, and name what ran there.

#include <algorithm>
#include <vector>

#include "sim/verify_report.hpp"

namespace tidemark::sim {
namespace {

// Streams whose instances are the cause; empty: no stream is.
std::vector<Stream> streams_of(StallCause cause) {
  switch (cause) {
    case StallCause::kPcieH2d:
      return {Stream::kCopyIn, Stream::kFetch};
    case StallCause::kPcieD2h:
      return {Stream::kCopyOut};
    case StallCause::kNvmeRead:
      return {Stream::kNvmeRead, Stream::kNvmeFetch};
    case StallCause::kNvmeWrite:
      return {Stream::kNvmeWrite};
    case StallCause::kCpuOptimizer:
      return {Stream::kCpuOptimizer};
    case StallCause::kCommunication:
      return {Stream::kCommunication};
    default:
      return {};
  }
}

bool blocker_fits(const Program& program, const Result& result, const Stall& stall) {
  const std::vector<Stream> streams = streams_of(stall.cause);
  if (stall.blocker == kNoInstance) return false;
  const InstanceRecord& blocker = result.records[index(stall.blocker)];
  if (!streams.empty()) {
    return std::ranges::count(streams, program.instances[index(stall.blocker)].stream) > 0 &&
           blocker.start <= stall.begin && stall.end <= blocker.finish;
  }
  if (stall.cause == StallCause::kAllocation) return blocker.finish == stall.end;
  if (stall.cause == StallCause::kLaunch) {
    return program.instances[index(stall.blocker)].stream == Stream::kCompute &&
           blocker.ready <= stall.begin && stall.end <= blocker.issued;
  }
  if (stall.cause == StallCause::kAllocatorCall) {
    return blocker.ready <= stall.begin && stall.end == blocker.start;
  }
  return true;
}

}  // namespace

void verify_stalls(const Program& program, const Result& result, VerifyReport& report) {
  SimTime stalled{};
  SimTime last{};
  for (const Stall& stall : result.stalls) {
    report.expect(last <= stall.begin && stall.begin < stall.end && stall.end <= result.end,
                  Rule::kStalls, "the stall from ", stall.begin, " to ", stall.end,
                  " is empty, out of order or outside the step");
    last = stall.end;
    stalled += stall.end - stall.begin;
    report.expect(blocker_fits(program, result, stall), Rule::kStalls, "the stall from ",
                  stall.begin, " to ", stall.end, ", ",
                  kStallCauseNames[static_cast<std::size_t>(stall.cause)], ", is not explained by ",
                  stall.blocker);
    const bool tail = stall.waiting == kNoInstance;
    report.expect(tail || (program.instances[index(stall.waiting)].stream == Stream::kCompute &&
                           result.records[index(stall.waiting)].start >= stall.end),
                  Rule::kStalls, "nothing waits in the stall at ", stall.begin);
  }
  std::size_t next = 0;
  for (const InstanceId id : program.order[static_cast<std::size_t>(Stream::kCompute)]) {
    const InstanceRecord& record = result.records[index(id)];
    if (record.finish == kNever) break;
    while (next < result.stalls.size() && result.stalls[next].end <= record.start) ++next;
    if (next == result.stalls.size() || record.start == record.finish) continue;
    report.expect(result.stalls[next].begin >= record.finish, Rule::kStalls, id,
                  " runs during the stall at ", result.stalls[next].begin);
  }
  report.expect(result.compute_busy + stalled == result.end, Rule::kIdentity, "busy ",
                result.compute_busy, " + stalls ", stalled, " should be the end ", result.end);
}

}  // namespace tidemark::sim
