#include "sim/executor.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "hardware/ensure.hpp"
#include "sim/event_queue.hpp"
#include "sim/links.hpp"
#include "sim/residency.hpp"
#include "sim/stalls.hpp"

namespace tidemark::sim {
namespace {

// What an event is about: two bits of kind above a stream or a generation of the link network.
enum class EventKind : std::uint32_t {
  kFinish,  // the stream's instance is done
  kMove,    // the stream's instance starts its transfer
  kLinks,   // some transfer is done, unless the generation is stale
  kIssued,  // the host has issued the compute stream's next instance
};
constexpr std::uint32_t kKindShift = 30;
constexpr std::uint32_t kPayload = (1u << kKindShift) - 1;

constexpr std::uint32_t word(EventKind kind, std::uint32_t payload) {
  return (static_cast<std::uint32_t>(kind) << kKindShift) | payload;
}

enum class StreamState : std::uint8_t { kIdle, kAwaitsHost, kAwaitsMemory, kRunning };

struct StreamPlace {
  const InstanceId* next = nullptr;  // the instance that runs, or is to run next
  const InstanceId* last = nullptr;
  std::uint32_t dependency = 0;  // row of Program::dependency: those before it have finished
  StreamState state = StreamState::kIdle;
  BufferId refused = kNoBuffer;     // kAwaitsMemory: the buffer that was not to be had,
  std::uint64_t refused_after = 0;  // and how many frees its tier had seen
  SimTime driver_time{};            // of the attempts to take memory
  InstanceId again = kNoInstance;   // runs, or is to run, before `next` for the run-time policy

  InstanceId current() const { return again != kNoInstance ? again : *next; }
};

constexpr auto kCompute = static_cast<std::size_t>(Stream::kCompute);

class Executor {
 public:
  Executor(const Program& program, const SimulateOptions& options);
  Result run() &&;

 private:
  bool next_instant();
  void announce_links();
  void finish_due();
  void finish(std::size_t stream);
  void start_ready();
  bool dependencies_finished(StreamPlace& place) const;
  void issue_next();
  bool host_is_late(std::size_t stream);
  void start(std::size_t stream);
  bool waits_to_run_again(StreamPlace& place);
  void ran_again(StreamPlace& place);
  void drop(std::span<const BufferId> buffers);
  std::optional<BufferId> take(std::size_t stream, StreamPlace& place);
  void begin_transfer(std::size_t stream);
  void close();

  const Program& program_;
  Residency residency_;
  EventQueue queue_;
  LinkNetwork links_;
  std::array<StreamPlace, kStreamCount> streams_;
  std::size_t launch_queue_;
  Ruled ruled_;
  RuntimePolicy* policy_ = nullptr;  // of ruled_, once its instance is reached
  SimTime now_{};
  SimTime host_{};                // the host is done with the compute stream's instances so far
  std::uint32_t due_ = 0;         // bit per stream: its instance finishes now
  std::uint32_t generation_ = 0;  // of the last announced completion
  SimTime announced_ = kNever;

  std::vector<std::uint8_t> finished_;  // by InstanceId
  std::vector<std::uint32_t> done_;     // scratch: streams whose transfer is done
  Result result_;
};

// What a reader of the arrays may rely on; the sum of durations keeps times from overflowing.
const Program& checked(const Program& program) {
  const std::size_t count = program.instances.size();
  ensure(program.first_dependency.size() == count + 1 && program.first_use.size() == count + 1,
         "a program should have one row of dependencies and of uses per instance");
  ensure(program.first_dependency.back() == program.dependency.size() &&
             program.first_use.back() == program.use.size(),
         "a program's rows should cover its dependencies and uses");
  std::size_t ordered = 0;
  for (const std::vector<InstanceId>& order : program.order) ordered += order.size();
  ensure(ordered == count, "every instance should stand in the order of one stream");
  std::int64_t left = std::numeric_limits<std::int64_t>::max() / 4;
  for (const Instance& instance : program.instances) {
    ensure(instance.fixed >= SimTime(0) && instance.fixed.count() <= left,
           "durations should not be negative and add up to less than 26 days");
    ensure(instance.issue >= SimTime(0) && instance.issue.count() <= left - instance.fixed.count(),
           "the host should take no negative time, nor more than 26 days");
    ensure(instance.issue == SimTime(0) || instance.stream == Stream::kCompute,
           "the host should issue instances of the compute stream alone");
    ensure(instance.bytes.count >= 0, "a transfer should not move a negative number of bytes");
    left -= instance.fixed.count() + instance.issue.count();
  }
  return program;
}

Executor::Executor(const Program& program, const SimulateOptions& options)
    : program_(checked(program)),
      residency_(program, options),
      links_(program.links, program.paths),
      launch_queue_(options.launch_queue),
      ruled_(options.ruled) {
  ensure(launch_queue_ > 0, "a stream should hold at least one kernel");
  for (std::size_t s = 0; s < kStreamCount; ++s) {
    const std::vector<InstanceId>& order = program.order[s];
    streams_[s].next = order.data();
    streams_[s].last = order.data() + order.size();
    if (!order.empty()) streams_[s].dependency = program.first_dependency[index(order.front())];
  }
  finished_.assign(program.instances.size(), 0);
  result_.records.resize(program.instances.size());
  issue_next();
}

Result Executor::run() && {
  if (const auto refused = residency_.take_initial()) {
    result_.out_of_memory = residency_.shortfall(kNoInstance, Stream::kCompute, *refused);
  } else {
    start_ready();
    while (due_ != 0 || next_instant()) {
      finish_due();
      start_ready();
    }
  }
  close();
  return std::move(result_);
}

// Moves to the next time at which something happens; false: nothing ever will.
bool Executor::next_instant() {
  announce_links();
  bool happened = false;
  while (!queue_.empty() && (!happened || queue_.next_time() == now_)) {
    const Event event = queue_.pop();
    const std::uint32_t payload = event.what() & kPayload;
    switch (static_cast<EventKind>(event.what() >> kKindShift)) {
      case EventKind::kFinish:
        now_ = event.time;
        due_ |= 1u << payload;
        happened = true;
        break;
      case EventKind::kMove:
        now_ = event.time;
        begin_transfer(payload);
        happened = true;
        break;
      case EventKind::kLinks:
        if (payload != generation_) break;  // stale
        now_ = event.time;
        announced_ = kNever;
        done_.clear();
        links_.finish(now_, done_);
        for (const std::uint32_t stream : done_) due_ |= 1u << stream;
        happened = true;
        break;
      case EventKind::kIssued:
        now_ = event.time;
        happened = true;
        break;
    }
  }
  return happened;
}

// Once per instant, after all starts and ends. An announced time that still holds stays.
void Executor::announce_links() {
  const SimTime next = links_.next_completion().value_or(kNever);
  if (next == announced_) return;
  announced_ = next;
  generation_ = (generation_ + 1) & kPayload;
  if (next != kNever) queue_.push(next, word(EventKind::kLinks, generation_));
}

void Executor::finish_due() {
  while (due_ != 0) {
    const int stream = std::countr_zero(due_);
    due_ &= due_ - 1;
    finish(static_cast<std::size_t>(stream));
  }
}

void Executor::finish(std::size_t stream) {
  StreamPlace& place = streams_[stream];
  if (place.again != kNoInstance) return ran_again(place);
  const InstanceId id = *place.next;
  InstanceRecord& record = result_.records[index(id)];
  record.finish = now_;
  result_.end = now_;
  finished_[index(id)] = 1;
  if (stream == kCompute) {
    result_.compute_busy += now_ - record.start;
  }
  const bool ruled = policy_ != nullptr && stream == kCompute;
  if (ruled) policy_->ran(id, false, now_);
  residency_.release_after(id, now_, policy_);
  if (ruled) drop(policy_->needless());
  record.events_at_finish = residency_.event_count();
  ++place.next;
  place.state = StreamState::kIdle;
  if (place.next != place.last) place.dependency = program_.first_dependency[index(*place.next)];
  if (stream == kCompute) issue_next();
}

// Keeps the host's clock: it issues in order and waits while the launch queue is full.
void Executor::issue_next() {
  const StreamPlace& place = streams_[kCompute];
  if (place.next == place.last) return;
  const auto& order = program_.order[kCompute];
  const auto before = static_cast<std::size_t>(place.next - order.data());
  if (before >= launch_queue_) {
    host_ = std::max(host_, result_.records[index(order[before - launch_queue_])].start);
  }
  host_ += program_.instances[index(*place.next)].issue;
}

// Only then does an event tell when it is not any more.
bool Executor::host_is_late(std::size_t stream) {
  if (stream != kCompute) return false;
  result_.records[index(*streams_[stream].next)].issued = host_;
  if (host_ <= now_) return false;
  queue_.push(host_, word(EventKind::kIssued, 0));
  streams_[stream].state = StreamState::kAwaitsHost;
  return true;
}

void Executor::start_ready() {
  for (std::size_t stream = 0; stream < kStreamCount; ++stream) {
    StreamPlace& place = streams_[stream];
    if (place.state == StreamState::kRunning || place.next == place.last) continue;
    if (place.state == StreamState::kIdle) {
      if (!dependencies_finished(place)) continue;
      result_.records[index(*place.next)].ready = now_;
      if (host_is_late(stream)) continue;
    } else if (place.state == StreamState::kAwaitsHost) {
      if (host_ > now_) continue;
    } else if (residency_.frees_beside(place.refused) == place.refused_after) {
      continue;
    }
    start(stream);
  }
}

// Each dependency is looked at until it has finished, and never again.
bool Executor::dependencies_finished(StreamPlace& place) const {
  const std::uint32_t end = program_.first_dependency[index(*place.next) + 1];
  while (place.dependency < end) {
    if (finished_[index(program_.dependency[place.dependency])] == 0) return false;
    ++place.dependency;
  }
  return true;
}

void Executor::start(std::size_t stream) {
  StreamPlace& place = streams_[stream];
  if (stream == kCompute && ruled_.policy != nullptr && waits_to_run_again(place)) return;
  if (const auto refused = take(stream, place)) {
    place.state = StreamState::kAwaitsMemory;
    place.refused = *refused;
    place.refused_after = residency_.frees_beside(*refused);
    return;
  }
  const Instance& instance = program_.instances[index(place.current())];
  place.state = StreamState::kRunning;
  const SimTime begin = now_ + place.driver_time;
  if (place.again == kNoInstance) result_.records[index(*place.next)].start = begin;
  if (stream == kCompute && place.driver_time > SimTime(0)) {
    host_ = std::max(host_, begin);  // it makes the driver calls
  }
  place.driver_time = SimTime(0);
  const SimTime fixed_end = begin + instance.fixed;
  const bool moves = instance.bytes.count > 0;
  if (fixed_end > now_) {
    queue_.push(fixed_end, word(moves ? EventKind::kMove : EventKind::kFinish,
                                static_cast<std::uint32_t>(stream)));
  } else if (moves) {
    begin_transfer(stream);
  } else {
    due_ |= 1u << stream;
  }
}

// Whether another instance is to run before the next one, and the host has not issued it yet.
bool Executor::waits_to_run_again(StreamPlace& place) {
  if (policy_ == nullptr) {
    if (*place.next != ruled_.from) return false;
    policy_ = ruled_.policy;
    residency_.set_capacity(Tier::kHbm, ruled_.hbm);
  }
  if (place.again != kNoInstance) return false;
  place.again = policy_->again_before(*place.next);
  if (place.again == kNoInstance) return false;
  host_ += program_.instances[index(place.again)].issue;
  if (host_ <= now_) return false;
  queue_.push(host_, word(EventKind::kIssued, 0));
  place.state = StreamState::kAwaitsHost;
  return true;
}

void Executor::ran_again(StreamPlace& place) {
  result_.compute_busy += program_.instances[index(place.again)].fixed;
  policy_->ran(place.again, true, now_);
  drop(policy_->needless());
  place.again = kNoInstance;
  place.state = StreamState::kIdle;
}

void Executor::drop(std::span<const BufferId> buffers) {
  for (const BufferId buffer : buffers) residency_.drop(buffer, now_);
}

// Memory for what is to start; the buffer that was not to be had.
std::optional<BufferId> Executor::take(std::size_t stream, StreamPlace& place) {
  const auto ask = [&] {
    if (place.again != kNoInstance) {
      return residency_.take_again(policy_->makes(place.again), place.again, now_);
    }
    return residency_.take(*place.next, static_cast<Stream>(stream), now_, place.driver_time);
  };
  auto refused = ask();
  if (policy_ == nullptr || stream != kCompute) return refused;
  while (refused && program_.buffers[index(*refused)].tier == Tier::kHbm) {
    const BufferId out = policy_->evict(now_);
    if (out == kNoBuffer) break;
    residency_.evict(out, now_);
    refused = ask();
  }
  return refused;
}

void Executor::begin_transfer(std::size_t stream) {
  const Instance& instance = program_.instances[index(*streams_[stream].next)];
  links_.start(now_, instance.path, instance.bytes, static_cast<std::uint32_t>(stream));
  const Path& path = program_.paths[index(instance.path)];
  for (std::size_t link = 0; link < kLinkCount; ++link) {
    result_.moved[link] += instance.bytes * path.weight[link];
  }
}

void Executor::close() {
  bool all_done = true;
  for (const StreamPlace& place : streams_) {
    all_done = all_done && place.next == place.last;
    if (result_.out_of_memory || place.state != StreamState::kAwaitsMemory) continue;
    const auto stream = static_cast<Stream>(&place - streams_.data());
    result_.out_of_memory = residency_.shortfall(*place.next, stream, place.refused);
  }
  ensure(all_done || result_.out_of_memory, "dependencies and stream orders should form no cycle");
  result_.memory = residency_.take_events();
  result_.allocators = residency_.allocator_records();
  result_.reserved = residency_.take_reserved();
  result_.kept = residency_.kept();
  if (ruled_.policy == nullptr) result_.stalls = attribute_stalls(program_, result_);
}

}  // namespace

Result simulate(const Program& program, const SimulateOptions& options) {
  return Executor(program, options).run();
}

}  // namespace tidemark::sim
