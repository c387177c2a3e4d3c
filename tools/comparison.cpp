#include "tools/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "graph/op_time.hpp"
#include "graph/policies/policy.hpp"
#include "graph/remat/chain.hpp"
#include "graph/remat/cut_bound.hpp"
#include "graph/remat/from_step.hpp"
#include "hardware/quantity.hpp"
#include "scenarios/suggest.hpp"
#include "tools/changes.hpp"
#include "tools/evaluate.hpp"
#include "tools/front.hpp"
#include "tools/parallel.hpp"
#include "tools/placement.hpp"
#include "tools/steps.hpp"
#include "tools/user_error.hpp"
#include "tools/wording.hpp"

namespace tidemark::tools {
namespace {

constexpr int kBudgetsOfRange = 8;
constexpr std::uint32_t kTightestBlocks = 2;

// Some ways to write a policy: its options without the budget of HBM, "" for those of its preset.
std::vector<std::string> wordings(std::string_view name) {
  if (name == "every-n") return {"n: 2", "n: 4", "n: 8"};
  if (name == "modules") return {"", "modules: [norm, mlp_activation, attention_core]"};
  if (name == "ops") return {"", "keep: matmul", "every_second: true"};
  if (name == "knapsack") return {"budget: 0.8", "budget: 0.6", "budget: 0.4", "budget: 0.2"};
  if (name == "ilp") return {"", "move: host"};
  return {""};
}

// What recomputation costs at least at a peak of HBM: the cut bound of the step's problem, whose
// memory comes on top of what is there before and after the step.
class Bound {
 public:
  explicit Bound(const scenarios::RunSpec& base) : steps_(base) {
    const PlannedStep& steady = steps_.steady();
    std::vector<SimTime> times;
    for (std::uint32_t i = 0; i < steady.graph.op_count(); ++i) {
      times.push_back(op_time(base.machine.gpu, steady.graph.ops[i]));
    }
    problem_ = remat::problem_of(steady.graph, times);
    for (const Buffer& buffer : steady.program.buffers) {
      if (buffer.tier == Tier::kHbm && buffer.initial && buffer.persistent) fixed_ += buffer.bytes;
    }
    if (const auto chain = remat::chain_of_blocks(problem_.problem)) {
      bound_.emplace(problem_.problem, *chain, kTightestBlocks);
    }
    passes_ = base.training.micro_batches;
    rate_out_ = base.machine.pcie.d2h;
    // Nothing of it comes before the op where memory is tightest, which is one of the last two
    // blocks' backward or in front of it.
    for (const SimTime time : times) after_ += time;
    const remat::Problem& problem = problem_.problem;
    for (remat::OpIndex i = 0; i < problem.op_count(); ++i) {
      const remat::Op& op = problem.op(i);
      const bool later = op.backward && op.block != remat::kNone &&
                         op.block + kTightestBlocks < problem.block_count();
      if (!later) after_ = after_ - SimTime(op.cost);
    }
  }

  std::optional<SimTime> operator()(Bytes peak) const {
    if (!bound_) return std::nullopt;
    const auto least = (*bound_)(peak.count - fixed_.count);
    if (!least) return std::nullopt;
    return SimTime(*least * passes_);
  }

  // With activations that move, of a step that takes `base_time` without. What a schedule takes
  // longer, x, is at least what it recomputes for, and until the op where memory is tightest no
  // more can have left than PCIe carries in the time until then, which is at most x longer too:
  //   x >= bound(peak + rate * (time until then + x)),  a pass
  std::optional<SimTime> with_moves(Bytes peak, SimTime base_time) const {
    if (!bound_) return std::nullopt;
    const SimTime until = base_time - std::min(base_time, after_);
    const auto holds = [&](std::int64_t x) {
      const Int128 time = (until + SimTime(x)).count();
      const auto left = static_cast<std::int64_t>(time * rate_out_.count / 1'000'000'000'000 + 1);
      const auto least = bound_->relaxed(peak.count - fixed_.count + left);
      return least && *least * passes_ <= x;
    };
    std::int64_t low = 0, high = 1;
    if (holds(low)) return SimTime(0);
    while (!holds(high)) high *= 2;
    while (high - low > 1) {
      const std::int64_t middle = low + (high - low) / 2;
      (holds(middle) ? high : low) = middle;
    }
    return SimTime(low);
  }

 private:
  Steps steps_;
  remat::StepProblem problem_;
  Bytes fixed_;
  std::int64_t passes_ = 1;
  Bandwidth rate_out_;  // of PCIe
  SimTime after_{};
  std::optional<remat::CutBound> bound_;
};

void mark_front(std::vector<Compared>& rows) {
  std::vector<FrontPoint> points;
  for (const Compared& row : rows) {
    points.push_back({row.report.tier(Tier::kHbm).peak_reserved, row.report.step_time,
                      row.report.fits(), !row.missed_budget()});
  }
  const std::vector<bool> front = front_of(points);
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i].on_front = front[i];
}

// Of a moment all that checkpoints leave where it is, the three largest parts.
std::string parts_that_stay(const Peak& peak) {
  std::vector<std::pair<Bytes, Category>> parts;
  for (std::size_t c = 0; c < peak.by_category.size(); ++c) {
    const auto category = static_cast<Category>(c);
    if (category == Category::kActivations || category == Category::kRecomputed) continue;
    if (peak.by_category[c].count > 0) parts.emplace_back(peak.by_category[c], category);
  }
  std::ranges::stable_sort(parts, std::greater(), [](const auto& part) { return part.first; });
  std::string text;
  for (std::size_t i = 0; i < std::min<std::size_t>(parts.size(), 3); ++i) {
    text += fmt::format("{}{} {}", i == 0 ? "" : ", ", spoken(parts[i].second),
                        format_bytes(parts[i].first));
  }
  return text;
}

}  // namespace

std::vector<ComparedPolicy> policies_to_compare(const scenarios::RunSpec& run,
                                                std::span<const std::string> policies,
                                                std::span<const Bytes> budgets) {
  std::vector<ComparedPolicy> found;
  const auto add = [&](const Policy& policy, const std::string& options,
                       std::optional<Bytes> budget) {
    std::string shown(policy.name);
    if (!options.empty()) shown += ", " + options;
    const auto same = [&](const ComparedPolicy& row) {
      return row.policy == shown && row.budget == budget;
    };
    if (std::ranges::any_of(found, same)) return;
    std::string value(policy.name);
    if (budget) {
      value = fmt::format("{{policy: {}, budget: {} B}}", shown, budget->count);
    } else if (!options.empty()) {
      value = fmt::format("{{policy: {}}}", shown);
    }
    const Change change{shown, {{"checkpoint", value}}};
    auto changed = run.checkpoint_policy == value ? std::optional(run)
                                                  : with_changes(run, std::span(&change, 1));
    if (changed) found.push_back({shown, budget, std::move(*changed)});
  };
  for (const std::string& name : policies) {
    const Policy* policy = find_policy(name);
    if (policy == nullptr) {
      std::vector<std::string_view> known;
      for (const Policy& each : ::tidemark::policies()) known.push_back(each.name);
      throw UserError("there is no policy '" + name + "': " + scenarios::suggestion(name, known));
    }
    for (const std::string& options : wordings(name)) {
      if (!policy->plans_for_budget())
        add(*policy, options, {});
      else
        for (const Bytes budget : budgets) add(*policy, options, budget);
    }
  }
  return found;
}

std::vector<std::string> policies_compared_by_default() {
  std::vector<std::string> names;
  for (const Policy& policy : ::tidemark::policies()) {
    if (!policy.slow) names.emplace_back(policy.name);
  }
  return names;
}

std::vector<Report> evaluate_policies(const scenarios::RunSpec& base,
                                      std::span<const ComparedPolicy> policies,
                                      const std::function<void(std::size_t)>& progress,
                                      std::vector<KeptSteps>* kept) {
  if (kept != nullptr) kept->resize(policies.size());
  // What policies share: the steps that they plan for, and a planner for all of its budgets.
  std::once_flag lowered;
  std::shared_ptr<const PlanningBase> planning;
  struct Shared {
    std::once_flag made;
    std::unique_ptr<const Placer> placer;
  };
  std::map<std::string, Shared> shared;
  for (const ComparedPolicy& each : policies) shared[each.policy];
  std::vector<Report> reports(policies.size());
  run_parallel(
      policies.size(),
      [&](std::size_t i) {
        const scenarios::RunSpec& run = policies[i].run;
        const ReportOptions options = {.largest = 0};
        KeptSteps* const keep = kept != nullptr ? &(*kept)[i] : nullptr;
        if (find_policy(run.checkpoint_policy)->planner == nullptr) {
          reports[i] = evaluate(run, options, keep);
          return;
        }
        std::call_once(lowered, [&] { planning = planning_base(base); });
        Shared& same = shared.at(policies[i].policy);
        std::call_once(same.made, [&] { same.placer = std::make_unique<Placer>(planning, run); });
        reports[i] =
            evaluate(run, std::make_shared<const Steps>(same.placer->place(run)), options, keep);
      },
      progress);
  return reports;
}

std::vector<Compared> compare(const scenarios::RunSpec& base, const Report& base_report,
                              std::span<const ComparedPolicy> policies,
                              std::span<const Report> reports) {
  const Bound bound(base);
  std::vector<Compared> rows;
  for (std::size_t i = 0; i < policies.size(); ++i) {
    Compared row;
    row.policy = policies[i].policy;
    row.budget = policies[i].budget;
    row.report = reports[i];
    row.over = row.report.step_time - base_report.step_time;
    row.base = base_report.step_time;
    row.base_busy = base_report.compute_busy;
    row.recomputed = row.report.hardware_flops - base_report.hardware_flops;
    for (const LinkKind link : {LinkKind::kPcieH2d, LinkKind::kPcieD2h}) {
      row.moved += row.report.traffic[static_cast<std::size_t>(link)];
    }
    const Bytes peak = row.report.tier(Tier::kHbm).peak_reserved;
    const PlacementNote* note = row.report.placement ? &*row.report.placement : nullptr;
    row.moves_activations = note != nullptr && note->to_host + note->to_ssd > Bytes(0);
    row.bound = row.moves_activations ? bound.with_moves(peak, base_report.step_time) : bound(peak);
    rows.push_back(std::move(row));
  }
  mark_front(rows);
  return rows;
}

std::string what_no_policy_moves(std::span<const Compared> rows) {
  const auto peak_of = [](const Compared& row) {
    return row.report.tier(Tier::kHbm).peak_reserved;
  };
  const auto least = std::ranges::min_element(rows, {}, peak_of);
  if (least == rows.end()) return "";
  const TierReport& hbm = least->report.tier(Tier::kHbm);
  // The most that was to be enough and is not.
  Bytes limit;
  for (const Compared& row : rows) {
    for (const Bytes wanted : {row.budget.value_or(Bytes(0)), hbm.capacity}) {
      if (wanted < peak_of(*least)) limit = std::max(limit, wanted);
    }
  }
  if (limit.count == 0) return "";
  Bytes stays = hbm.peak;
  for (const Category moves : {Category::kActivations, Category::kRecomputed}) {
    stays -= hbm.peak_moment.by_category[static_cast<std::size_t>(moves)];
  }
  if (stays <= limit) return "";
  const Peak& peak = hbm.peak_moment;
  const bool capacity = limit == hbm.capacity;
  return fmt::format(
      "No policy here gets below {} of HBM, more than the {} of {}: {} of it, at its peak{}, is "
      "what "
      "checkpoints do not move: {}.{}",
      format_bytes(peak_of(*least)), capacity ? "capacity" : "budget", format_bytes(limit),
      format_bytes(stays),
      peak.op.empty() ? "" : " in " + place(name_of(peak.phase), peak.layer, peak.op),
      parts_that_stay(peak), capacity ? " tidemark run --why-not-fit tries what does." : "");
}

std::vector<Bytes> parse_budgets(const std::string& text) {
  const auto size = [&](const std::string& part) {
    const Parsed<Bytes> parsed = parse_bytes(part);
    if (!parsed.value || parsed.value->count <= 0) {
      throw UserError("--budgets: '" + part + "' is no size such as 40GiB");
    }
    return *parsed.value;
  };
  const std::size_t dots = text.find("..");
  std::vector<Bytes> budgets;
  if (dots != std::string::npos) {
    const Bytes from = size(text.substr(0, dots));
    const Bytes to = size(text.substr(dots + 2));
    if (to < from) throw UserError("--budgets: the range '" + text + "' ends before it begins");
    for (int i = 0; i < kBudgetsOfRange; ++i) {
      budgets.emplace_back(from.count + (to.count - from.count) / (kBudgetsOfRange - 1) * i);
    }
    budgets.back() = to;
    return budgets;
  }
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    budgets.push_back(size(text.substr(begin, end - begin)));
    begin = end + 1;
  }
  return budgets;
}

}  // namespace tidemark::tools
