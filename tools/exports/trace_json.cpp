#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <optional>
#include <vector>

#include "graph/program.hpp"
#include "sim/account.hpp"
#include "tidemark/version.hpp"
#include "tools/exports/exports.hpp"
#include "tools/exports/json_text.hpp"

namespace tidemark::tools {
namespace {

constexpr int kRank = 0;
constexpr int kProcess = kRank + 1;  // Perfetto takes process 0 for the idle one
constexpr int kPhaseTrack = 100;
constexpr int kStallTrack = 101;

constexpr int track_of(Stream stream) { return static_cast<int>(stream) + 1; }

std::int64_t nanoseconds(SimTime time) { return time.count() / 1000; }

class TraceWriter {
 public:
  TraceWriter(std::string_view label, const PlayedStep& step)
      : label_(label),
        step_(step),
        program_(step.program),
        result_(step.whole()),
        records_(result_.records) {}

  std::string write() {
    out_.reserve(256 * (program_.instances.size() + result_.memory.size()));
    out_ += "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"tidemark\":";
    append_json_text(out_, kVersion);
    out_ += ",\"run\":";
    append_json_text(out_, label_);
    out_ += "},\"traceEvents\":[\n";
    metadata();
    phases();
    for (std::uint32_t i = 0; i < program_.instances.size(); ++i) instance(InstanceId{i});
    for (const sim::Stall& stall : result_.stalls) this->stall(stall);
    for (std::uint32_t i = 0; i < program_.instances.size(); ++i) flow(InstanceId{i});
    counters();
    peaks();
    out_ += "\n]}\n";
    return std::move(out_);
  }

 private:
  template <class... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
  }

  // The beginning of an event, up to its name.
  void event(char phase, std::string_view name) {
    if (any_) out_ += ",\n";
    any_ = true;
    add("{{\"ph\":\"{}\",\"pid\":{},\"name\":", phase, kProcess);
    append_json_text(out_, name);
  }

  // Microseconds with three decimals. Readers multiply by 1000 and cut off what is behind the
  // point, which makes 1.000 of 1.001: half a nanosecond keeps them from it.
  void time_stamp(std::int64_t nanosecond) {
    add(",\"ts\":{}.{:03}5", nanosecond / 1000, nanosecond % 1000);
  }

  // A hundredth of a nanosecond short: a reader that adds the duration to the beginning in floating
  // point must not come out behind the end, where the next slice may begin. `end` is at least a
  // nanosecond after `begin`.
  void span(int track, SimTime begin, SimTime end) {
    const std::int64_t from = nanoseconds(begin);
    const std::int64_t length = 100 * (nanoseconds(end) - from) - 1;
    add(",\"tid\":{}", track);
    time_stamp(from);
    add(",\"dur\":{}.{:05}", length / 100'000, length % 100'000);
  }

  void name_track(int track, std::string_view name, int place) {
    event('M', "thread_name");
    add(",\"tid\":{},\"args\":{{\"name\":\"{}\"}}}}", track, name);
    event('M', "thread_sort_index");
    add(",\"tid\":{},\"args\":{{\"sort_index\":{}}}}}", track, place);
  }

  void metadata() {
    event('M', "process_name");
    out_ += ",\"args\":{\"name\":";
    append_json_text(out_, fmt::format("rank {}: {}", kRank, label_));
    out_ += "}}";
    event('M', "process_sort_index");
    add(",\"args\":{{\"sort_index\":{}}}}}", kRank);
    if (step_.free != nullptr) {
      event('M', "process_labels");
      out_ += ",\"args\":{\"labels\":\"does not fit: played without limits of memory\"}}";
    }
    int place = 0;
    name_track(kPhaseTrack, "phase", place++);
    for (std::size_t s = 0; s < program_.order.size(); ++s) {
      const auto stream = static_cast<Stream>(s);
      if (program_.order[s].empty() && stream != Stream::kCompute) continue;
      name_track(track_of(stream), name_of(stream), place++);
      if (stream == Stream::kCompute) name_track(kStallTrack, "stalls of compute", place++);
    }
  }

  // Runs of one phase on the compute stream.
  void phases() {
    const auto& order = program_.order[static_cast<std::size_t>(Stream::kCompute)];
    for (std::size_t begin = 0; begin < order.size();) {
      const Phase phase = program_.instances[index(order[begin])].phase;
      std::size_t end = begin;
      while (end < order.size() && program_.instances[index(order[end])].phase == phase) ++end;
      const SimTime from = records_[index(order[begin])].start;
      const SimTime until = records_[index(order[end - 1])].finish;
      begin = end;
      if (nanoseconds(from) == nanoseconds(until)) continue;
      event('X', name_of(phase));
      span(kPhaseTrack, from, until);
      out_ += ",\"cat\":\"phase\"}";
    }
  }

  void instance(InstanceId id) {
    const Instance& instance = program_.instances[index(id)];
    const sim::InstanceRecord& record = records_[index(id)];
    if (nanoseconds(record.start) == nanoseconds(record.finish)) {
      // Readers that pair ends with beginnings lose their place at a slice of no length.
      event('i', name_of(step_, id));
      add(",\"tid\":{},\"s\":\"t\"", track_of(instance.stream));
      time_stamp(nanoseconds(record.start));
    } else {
      event('X', name_of(step_, id));
      span(track_of(instance.stream), record.start, record.finish);
    }
    add(",\"cat\":\"{}\",\"args\":{{\"instance\":{}", name_of(instance.phase), index(id));
    if (instance.layer >= 0) add(",\"layer\":{}", instance.layer);
    if (instance.bytes.count > 0) add(",\"bytes\":{}", instance.bytes.count);
    if (instance.op != kNoOp) {
      const Op& op = step_.graph.op(instance.op);
      if (op.flops.count > 0) add(",\"flops\":{}", op.flops.count);
      add(",\"bytes_read\":{},\"bytes_written\":{}", op.bytes_read.count, op.bytes_written.count);
    }
    out_ += "}}";
  }

  void named_instance(std::string_view key, InstanceId id) {
    if (id == kNoInstance) return;
    add(",\"{}\":", key);
    append_json_text(out_, name_of(step_, id));
    add(",\"{}_instance\":{}", key, index(id));
  }

  void stall(const sim::Stall& stall) {
    const std::string_view cause = sim::kStallCauseNames[static_cast<std::size_t>(stall.cause)];
    if (nanoseconds(stall.begin) == nanoseconds(stall.end)) return;
    event('X', cause);
    span(kStallTrack, stall.begin, stall.end);
    add(",\"cat\":\"stall\",\"args\":{{\"cause\":\"{}\"", cause);
    named_instance("waiting", stall.waiting);
    named_instance("for", stall.blocker);
    out_ += "}}";
  }

  // Which transfer or update held an instance up: of its dependencies on other streams than the
  // GPU's the one that finished last, if its own stream had been free before that.
  std::optional<InstanceId> held_up_by(InstanceId id) const {
    const Stream own = program_.instances[index(id)].stream;
    InstanceId last = kNoInstance;
    SimTime finish = free_since_[index(id)];
    for (const InstanceId each : program_.dependencies(id)) {
      const Stream stream = program_.instances[index(each)].stream;
      if (records_[index(each)].finish <= finish) continue;
      finish = records_[index(each)].finish;
      last = stream == own || stream == Stream::kCompute ? kNoInstance : each;
    }
    if (last == kNoInstance) return std::nullopt;
    return last;
  }

  // When the stream of each instance was done with the one before.
  static std::vector<SimTime> free_since(const Program& program,
                                         const std::vector<sim::InstanceRecord>& records) {
    std::vector<SimTime> since(program.instances.size());
    for (const auto& order : program.order) {
      for (std::size_t i = 1; i < order.size(); ++i) {
        since[index(order[i])] = records[index(order[i - 1])].finish;
      }
    }
    return since;
  }

  // From the last nanosecond of the one to the first of the other, so that each end lies in its
  // slice. What takes no time has none.
  void flow(InstanceId id) {
    const std::optional<InstanceId> from = held_up_by(id);
    if (!from) return;
    const sim::InstanceRecord& source = records_[index(*from)];
    const sim::InstanceRecord& target = records_[index(id)];
    if (nanoseconds(source.finish) == nanoseconds(source.start)) return;
    if (nanoseconds(target.finish) == nanoseconds(target.start)) return;
    const auto end = [&](char phase, InstanceId at, std::int64_t nanosecond) {
      event(phase, "waits for");
      add(",\"cat\":\"dependency\",\"id\":{},\"tid\":{}", index(id),
          track_of(program_.instances[index(at)].stream));
      time_stamp(nanosecond);
      out_ += phase == 'f' ? ",\"bp\":\"e\"}" : "}";
    };
    end('s', *from, nanoseconds(source.finish) - 1);
    end('f', id, nanoseconds(target.start));
  }

  // One value for what happens within a nanosecond: the last. Peaks have marks of their own.
  void counters() {
    std::array<std::array<std::int64_t, kCategoryCount>, kTierCount> levels{};
    std::array<std::array<bool, kCategoryCount>, kTierCount> changed{};
    const auto flush = [&](std::int64_t nanosecond) {
      for (std::size_t t = 0; t < kTierCount; ++t) {
        bool any = false;
        std::int64_t total = 0;
        for (std::size_t c = 0; c < kCategoryCount; ++c) {
          total += levels[t][c];
          if (!changed[t][c]) continue;
          any = true;
          counter(kTierNames[t], kCategoryNames[c], nanosecond, levels[t][c]);
        }
        if (any) counter(kTierNames[t], "total", nanosecond, total);
        changed[t] = {};
      }
    };
    std::int64_t now = 0;
    for (const sim::MemoryEvent& event : result_.memory) {
      if (nanoseconds(event.time) != now) flush(now);
      now = nanoseconds(event.time);
      const Buffer& buffer = program_.buffers[index(event.buffer)];
      const auto t = static_cast<std::size_t>(buffer.tier);
      const auto c = static_cast<std::size_t>(buffer.category);
      levels[t][c] += event.allocated ? buffer.bytes.count : -buffer.bytes.count;
      changed[t][c] = true;
    }
    flush(now);
  }

  void counter(std::string_view tier, std::string_view what, std::int64_t nanosecond,
               std::int64_t bytes) {
    event('C', fmt::format("{} {}", tier, what));
    time_stamp(nanosecond);
    add(",\"args\":{{\"bytes\":{}}}}}", bytes);
  }

  void peaks() {
    const sim::Account account = sim::account(program_, result_);
    for (std::size_t t = 0; t < kTierCount; ++t) {
      const sim::Peak& peak = account.tiers[t].peak;
      if (peak.level.total.count == 0) continue;
      event('i', fmt::format("peak of {}", kTierNames[t]));
      time_stamp(nanoseconds(peak.time));
      add(",\"tid\":{},\"s\":\"p\",\"cat\":\"peak\",\"args\":{{\"bytes\":{}",
          track_of(Stream::kCompute), peak.level.total.count);
      named_instance("allocates", peak.instance);
      out_ += "}}";
    }
  }

  std::string_view label_;
  const PlayedStep& step_;
  const Program& program_;
  const sim::Result& result_;
  const std::vector<sim::InstanceRecord>& records_;
  std::vector<SimTime> free_since_ = free_since(program_, records_);
  std::string out_;
  bool any_ = false;
};

}  // namespace

std::string trace_json(std::string_view label, const PlayedStep& step) {
  return TraceWriter(label, step).write();
}

}  // namespace tidemark::tools
