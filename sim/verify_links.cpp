// What moved, and how fast.

#include <algorithm>

#include "sim/verify_report.hpp"

namespace tidemark::sim {
namespace {

struct Passage {
  SimTime begin{};
  SimTime end{};
  Bytes bytes;  // times weight
};

// Over each stretch in which the link is never idle it carries no more than its capacity allows.
void verify_busy_stretches(const Link& link, std::vector<Passage> passages, VerifyReport& report) {
  std::ranges::sort(passages, {}, &Passage::begin);
  Passage stretch;
  const auto close = [&] {
    const SimTime length = stretch.end - stretch.begin;
    const SimTime least = time_at_rate(stretch.bytes.count, link.capacity.count);
    report.expect(length >= least, Rule::kLinks, "link ",
                  kLinkNames[static_cast<std::size_t>(link.kind)], " carries ", stretch.bytes,
                  " in ", length, ", which takes ", least);
  };
  for (const Passage& passage : passages) {
    if (passage.begin < stretch.end) {
      stretch.end = std::max(stretch.end, passage.end);
      stretch.bytes += passage.bytes;
    } else {
      close();
      stretch = passage;
    }
  }
  close();
}

}  // namespace

void verify_links(const Program& program, const Result& result, VerifyReport& report) {
  std::array<Bytes, kLinkCount> moved{};
  std::array<std::vector<Passage>, kLinkCount> passages;
  for (std::size_t i = 0; i < program.instances.size(); ++i) {
    const Instance& instance = program.instances[i];
    const InstanceRecord& record = result.records[i];
    if (instance.bytes.count == 0 || record.finish == kNever) continue;
    for (std::size_t l = 0; l < kLinkCount; ++l) {
      const Bytes bytes = instance.bytes * program.paths[index(instance.path)].weight[l];
      moved[l] += bytes;
      if (bytes.count == 0) continue;
      passages[l].push_back({record.start + instance.fixed, record.finish, bytes});
    }
  }
  for (std::size_t l = 0; l < kLinkCount; ++l) {
    report.expect(result.moved[l] == moved[l], Rule::kMoved, "transfers take ", moved[l],
                  " over link ", kLinkNames[l], ", not ", result.moved[l]);
  }
  for (const Link& link : program.links) {
    verify_busy_stretches(link, passages[static_cast<std::size_t>(link.kind)], report);
  }
}

}  // namespace tidemark::sim
