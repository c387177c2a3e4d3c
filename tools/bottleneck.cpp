#include <fmt/format.h>

#include <algorithm>

#include "hardware/quantity.hpp"
#include "tools/report.hpp"
#include "tools/told_apart.hpp"
#include "tools/wording.hpp"

namespace tidemark::tools {
namespace {

// Below this share of a step a stall is not what holds it up.
constexpr double kWorthNaming = 0.05;
// A tier that holds more of its capacity than this has no room for what is not simulated.
constexpr double kNearlyFull = 0.995;

std::string share(SimTime part, const Report& report) {
  return format_percent(seconds(part) / seconds(report.step_time));
}

Category largest_category(const TierReport& tier) {
  const auto& parts = tier.peak_moment.by_category;
  return static_cast<Category>(std::ranges::max_element(parts) - parts.begin());
}

std::string where(const OutOfMemoryReport& oom) {
  const char* step = oom.first_step ? "the first step" : "a later step";
  if (oom.op.empty()) return fmt::format("{} cannot begin", step);
  return fmt::format("{} fails in {}", step, place(name_of(oom.phase), oom.layer, oom.op));
}

std::string why_not(const Report& report) {
  const OutOfMemoryReport& oom = *report.out_of_memory;
  const TierReport& tier = report.tier(oom.tier);
  const Category category = largest_category(tier);
  const Bytes part = tier.peak_moment.by_category[static_cast<std::size_t>(category)];
  const std::string most = fmt::format("most is {} ({})", spoken(category), format_bytes(part));
  if (oom.placed) {
    return fmt::format(
        "the places computed for {} end {} beyond its {}, though no more than {} live at once; {}, "
        "as {} ({}) would lie beyond; {}",
        spoken(oom.tier), format_bytes(oom.placed->end - tier.capacity),
        format_bytes(tier.capacity), format_bytes(oom.placed->bound), where(oom), oom.buffer,
        format_bytes(oom.requested), most);
  }
  std::string text;
  if (oom.needed_live <= tier.capacity && oom.needed > tier.capacity) {
    text = fmt::format(
        "{} is too fragmented: {} of {} live at most, and the allocator would reserve {}",
        spoken(oom.tier), format_bytes(oom.needed_live), format_bytes(tier.capacity),
        format_bytes(oom.needed));
  } else if (oom.needed > tier.capacity) {
    const auto [needed, capacity] = told_apart(oom.needed, tier.capacity);
    text = fmt::format("{} is short by {}, training needs {} of {}", spoken(oom.tier),
                       format_bytes(oom.needed - tier.capacity), needed, capacity);
  } else {
    text = fmt::format("{} has no {} in one piece", spoken(oom.tier), format_bytes(oom.requested));
  }
  return text + fmt::format("; {}, asking for {} ({}) with {} free; {}", where(oom),
                            format_bytes(oom.requested), oom.buffer, format_bytes(oom.free), most);
}

// The CPU is busy either way: what one would have to buy.
std::string_view pace(const Report& report) {
  switch (report.update_pace) {
    case UpdatePace::kNone:
      return "";
    case UpdatePace::kDram:
      return ", which DRAM holds up";
    case UpdatePace::kCores:
      return ", which its cores hold up";
  }
  return "";
}

// ", with 1.25 ms that nothing reads and 9.1 ms of the last segment, right after its forward"
std::string waste(const Report& report) {
  std::string text;
  const auto add = [&](SimTime time, std::string_view what) {
    if (time == SimTime(0)) return;
    text += fmt::format("{} {} {}", text.empty() ? ", with" : " and", format_time(time), what);
  };
  add(report.waste.unread, "that nothing reads");
  add(report.waste.last_segment, "of the last segment, right after its forward");
  return text;
}

std::string holdup(const Report& report) {
  const auto worst = std::ranges::max_element(report.stalls);
  if (seconds(*worst) > kWorthNaming * seconds(report.step_time)) {
    const auto cause = static_cast<sim::StallCause>(worst - report.stalls.begin());
    return fmt::format("the GPU waits for {}{}: {} of the step ({} of {}), and computes for {}",
                       spoken(cause), cause == sim::StallCause::kCpuOptimizer ? pace(report) : "",
                       share(*worst, report), format_time(*worst), format_time(report.step_time),
                       share(report.compute_busy, report));
  }
  const SimTime streams = report.compute_busy - report.matmul;
  std::string text = fmt::format(
      "the GPU computes {} of the step: matmuls {}, kernels bound by HBM or launches {}",
      share(report.compute_busy, report), share(report.matmul, report), share(streams, report));
  if (report.recompute.count() > 0) {
    text += fmt::format("; recompute is {}{}", share(report.recompute, report), waste(report));
  }
  return text;
}

}  // namespace

std::vector<std::string> warnings_of(const Report& report) {
  std::vector<std::string> warnings;
  if (!report.fits()) return warnings;
  for (const Tier tier : {Tier::kHbm, Tier::kHost, Tier::kSsd}) {
    const TierReport& each = report.tier(tier);
    const Bytes used = std::max({each.peak, each.peak_reserved, each.first_step_peak});
    if (each.capacity.count == 0) continue;
    if (static_cast<double>(used.count) < kNearlyFull * static_cast<double>(each.capacity.count)) {
      continue;
    }
    warnings.push_back(fmt::format(
        "{} is {:.1f} % full at its peak, {} are left: what the simulation does not know may not "
        "fit",
        spoken(tier),
        100 * static_cast<double>(used.count) / static_cast<double>(each.capacity.count),
        format_bytes(each.capacity - used)));
  }
  const SimTime waits = report.stalls[static_cast<std::size_t>(sim::StallCause::kAllocation)];
  if (waits.count() > 0) {
    warnings.push_back(fmt::format(
        "it fits as kernels wait for memory that copies still hold, {} a step: a framework that "
        "does not wait there runs out of memory",
        format_time(waits)));
  }
  return warnings;
}

std::string bottleneck_of(const Report& report) {
  std::string text = report.fits() ? holdup(report) : why_not(report);
  if (report.update_delay > 0) {
    text += "; stale by a step: each update uses the gradients of the step before";
  }
  return text;
}

}  // namespace tidemark::tools
