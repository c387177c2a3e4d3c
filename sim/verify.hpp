#pragma once
// Replays a Result against its Program with code that shares nothing with the executor, and says
// which rule of the simulation was broken where. Slow and simple on purpose: it is the judge.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "graph/program.hpp"
#include "sim/account.hpp"
#include "sim/options.hpp"
#include "sim/result.hpp"

namespace tidemark::sim {

enum class Rule : std::uint8_t {
  kShape,         // columns are as long as the program, and name what it has
  kComplete,      // every instance ran, or the run says where memory ran out
  kDependencies,  // nothing is ready before its dependencies have finished, nor later
  kStreams,       // each stream runs its list in order, one instance at a time
  kStart,         // an instance starts when it is ready and issued, unless it waits for memory
  kDuration,      // it takes its fixed time, and a transfer no less than its links and cap allow
  kAllocation,    // a buffer is allocated once, for a user, before any user starts
  kFree,          // and freed once, when its last user finishes, unless it persists
  kBalance,       // allocated = freed + what stays after the step
  kCapacity,      // no tier ever holds more than its capacity
  kCategories,    // the categories of a tier add up to its level at every event
  kMoved,         // transfers move exactly their bytes
  kLinks,         // no link carries more than its capacity while it is busy
  kStalls,        // stalls are disjoint, in order, and name what ran or finished then
  kIdentity,      // busy + stalls = end on the compute stream
  kEnd,           // the step ends with its last instance, no sooner than its critical path
  kIssue,         // the host issues the compute stream in order, none starts before it is issued
  kOutOfMemory,   // the allocation that failed really did not fit
};

inline constexpr std::array<std::string_view, 18> kRuleNames = {
    "shape",      "complete", "dependencies", "streams",  "start",        "duration",
    "allocation", "free",     "balance",      "capacity", "categories",   "moved",
    "links",      "stalls",   "identity",     "end",      "issue",
    "out_of_memory"};

constexpr std::string_view name_of(Rule rule) { return kRuleNames[static_cast<std::size_t>(rule)]; }

struct Violation {
  Rule rule{};
  std::string text;  // which instance, buffer or link, with the figures
};

// Empty if all rules hold; at most a hundred otherwise. Give the options of the run: a tier with an
// allocator of its own may be fuller or emptier than its buffers' bytes say.
std::vector<Violation> verify(const Program& program, const Result& result,
                              const SimulateOptions& options = {});

// Whether `samples` (see timeline()) say what the memory events of `result` add up to.
std::vector<Violation> verify_timeline(const Program& program, const Result& result,
                                       const std::vector<Sample>& samples);

}  // namespace tidemark::sim
