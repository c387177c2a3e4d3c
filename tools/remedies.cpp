#include "tools/remedies.hpp"

#include <algorithm>
#include <iterator>
#include <tuple>

#include "graph/policies/policy.hpp"
#include "scenarios/sizes.hpp"
#include "tools/report.hpp"
#include "tools/steps.hpp"

namespace tidemark::tools {
namespace {

using scenarios::RunSpec;

constexpr std::size_t kMostChangesOfAll = 3;  // of which all sets are looked at

// Of the first and of every later step; what the allocator reserves counts where it keeps a cache.
Bytes most_in(const Report& report, Tier tier) {
  if (report.out_of_memory && report.out_of_memory->tier == tier) {
    return report.out_of_memory->needed;
  }
  const TierReport& all = report.tier(tier);
  return std::max({all.peak, all.peak_reserved, all.first_step_peak});
}

// Bytes less in each phase: what makes a guess at the peak of several changes together.
using PhaseSavings = std::array<std::int64_t, sim::kStepPartCount>;

// A set of changes by their places in the list of singles.
struct Combination {
  std::vector<std::size_t> members;  // ascending
  std::int64_t promised = 0;         // peak, if savings add up in each phase
};

class Search {
 public:
  Search(const RunSpec& run, const Report& report, const SimulateAll& simulate_all)
      : run_(run), report_(report), simulate_all_(simulate_all) {
    found_.tier = report.out_of_memory->tier;
    found_.capacity = report.tier(found_.tier).capacity;
    found_.needed = most_in(report, found_.tier);
    found_.step_time = report.step_time;
  }

  Remedies run() && {
    try_singles();
    for (std::size_t size = 2; size <= kMostChangesOfAll && !answered(); ++size) try_sets(size);
    if (!answered()) grow_least();
    std::ranges::stable_sort(found_.answers, {}, [](const Remedy& remedy) {
      return std::tuple(remedy.alters_training(), remedy.changes.size(), remedy.step_time,
                        remedy.peak);
    });
    if (answered()) add_to_fastest();
    std::ranges::stable_sort(found_.alone, std::greater(), &Remedy::saves);
    return std::move(found_);
  }

 private:
  bool answered() const {
    return std::ranges::any_of(found_.answers,
                               [](const Remedy& remedy) { return !remedy.alters_training(); });
  }

  void try_singles() {
    std::vector<std::vector<Change>> sets;
    for (Change& change : changes_for(run_)) sets.push_back({std::move(change)});
    const std::vector<Remedy> tried = simulate(std::move(sets), kMostSingles, &savings_);
    for (const Remedy& remedy : tried) {
      if (remedy.fits) found_.answers.push_back(remedy);
    }
    found_.alone = tried;
  }

  // Simulates at most `most` of the sets that make runs, in their order.
  std::vector<Remedy> simulate(std::vector<std::vector<Change>> sets, std::size_t most,
                               std::vector<PhaseSavings>* savings) {
    std::vector<RunSpec> runs;
    std::vector<Remedy> remedies;
    for (std::vector<Change>& changes : sets) {
      std::optional<RunSpec> changed = with_changes(run_, changes);
      if (!changed) continue;
      const std::int64_t rows = rows_simulated(*changed);
      if (runs.size() == most || scenarios::estimate_rows(*changed) > kMostRowsOfAChange ||
          rows_ + rows > kMostRowsInAll) {
        ++found_.left_out;
        continue;
      }
      rows_ += rows;
      runs.push_back(std::move(*changed));
      remedies.push_back({});
      remedies.back().changes = std::move(changes);
    }
    const std::vector<Report> reports = simulate_all_(runs);
    found_.simulations += reports.size();
    for (std::size_t i = 0; i < reports.size(); ++i) {
      const PhaseSavings phases = describe(remedies[i], reports[i]);
      if (savings != nullptr) savings->push_back(phases);
      note_least(remedies[i]);
    }
    return remedies;
  }

  PhaseSavings describe(Remedy& remedy, const Report& report) const {
    remedy.fits = report.fits();
    if (!remedy.fits) remedy.short_of = report.out_of_memory->tier;
    remedy.peak = most_in(report, found_.tier);
    remedy.saves = found_.needed - remedy.peak;
    remedy.step_time = report.step_time;
    remedy.costs = report.step_time - found_.step_time;
    PhaseSavings savings{};
    remedy.differs = remedy.costs.count() != 0 || remedy.saves.count != 0;
    for (std::size_t p = 0; p < savings.size(); ++p) {
      savings[p] = phase_peak(report_, p) - phase_peak(report, p);
      remedy.differs = remedy.differs || savings[p] != 0;
    }
    return savings;
  }

  std::int64_t phase_peak(const Report& report, std::size_t phase) const {
    return report.tier(found_.tier).phase_peaks[phase].count;
  }

  // Of changes that make a difference; not of changes that exclude each other, nor around one that
  // fits alone. Where some fit but alter the training, only of those that do not alter it.
  std::vector<Combination> sets_of(std::size_t size) const {
    std::vector<std::size_t> pool;
    for (std::size_t i = 0; i < found_.alone.size(); ++i) {
      const Remedy& single = found_.alone[i];
      const bool wanted = found_.answers.empty() || !single.alters_training();
      if (wanted && single.differs && !single.fits) pool.push_back(i);
    }
    std::vector<Combination> sets(1);
    for (std::size_t i = 0; i < size; ++i) {
      std::vector<Combination> larger;
      for (const Combination& set : sets) {
        for (const std::size_t candidate : pool) {
          if (!set.members.empty() && candidate <= set.members.back()) continue;
          if (excluded(set, candidate)) continue;
          larger.push_back(set);
          larger.back().members.push_back(candidate);
        }
      }
      sets = std::move(larger);
    }
    for (Combination& set : sets) set.promised = promised(set);
    std::ranges::stable_sort(sets, {}, &Combination::promised);
    return sets;
  }

  bool excluded(const Combination& set, std::size_t candidate) const {
    return std::ranges::any_of(set.members, [&](std::size_t member) {
      return exclude_each_other(found_.alone[member].changes[0],
                                found_.alone[candidate].changes[0]);
    });
  }

  std::int64_t promised(const Combination& set) const {
    std::int64_t most = 0;
    for (std::size_t p = 0; p < sim::kStepPartCount; ++p) {
      std::int64_t peak = phase_peak(report_, p);
      for (const std::size_t member : set.members) peak -= savings_[member][p];
      most = std::max(most, peak);
    }
    return most;
  }

  void try_sets(std::size_t size) {
    if (size > 2 && scenarios::estimate_rows(run_) > kMostRowsForTriples) return;
    std::vector<std::vector<Change>> sets;
    for (const Combination& set : sets_of(size)) {
      std::vector<Change>& changes = sets.emplace_back();
      const std::size_t most = size == 2 ? kMostPairs : kMostTriples;
      // Some beyond the bound, in the place of those that make no run.
      if (sets.size() > 2 * most) {
        sets.pop_back();
        ++found_.left_out;
        continue;
      }
      for (const std::size_t member : set.members) {
        changes.push_back(found_.alone[member].changes[0]);
      }
    }
    const std::vector<Remedy> tried =
        simulate(std::move(sets), size == 2 ? kMostPairs : kMostTriples, nullptr);
    (size == 2 ? found_.pairs : found_.triples) = tried.size();
    for (const Remedy& remedy : tried) {
      if (remedy.fits) found_.answers.push_back(remedy);
    }
  }

  // Of those that leave training as it is and are short of nothing else.
  void note_least(const Remedy& remedy) {
    if (remedy.alters_training() || remedy.fits || remedy.short_of != found_.tier) return;
    if (!least_ || remedy.peak < least_->peak) least_ = remedy;
  }

  void grow_least() {
    while (least_ && least_->changes.size() < kMostChanges) {
      const Remedy before = *least_;
      std::vector<std::vector<Change>> sets;
      for (const Remedy& single : found_.alone) {
        const Change& change = single.changes.front();
        const bool excluded = std::ranges::any_of(before.changes, [&](const Change& member) {
          return member.words == change.words || exclude_each_other(member, change);
        });
        if (excluded || !single.differs || single.alters_training()) continue;
        sets.push_back(before.changes);
        sets.back().push_back(change);
      }
      const std::vector<Remedy> tried = simulate(std::move(sets), kMostSingles, nullptr);
      found_.grown += tried.size();
      std::ranges::copy_if(tried, std::back_inserter(found_.answers), &Remedy::fits);
      if (answered() || least_->peak >= before.peak) return;
    }
  }

  // The first answer is the fastest of those that leave training as it is.
  void add_to_fastest() {
    const std::vector<Change> fits = found_.answers.front().changes;
    std::vector<Remedy> savers = found_.alone;
    std::erase_if(savers, [](const Remedy& single) {
      return single.alters_training() || single.costs.count() >= 0;
    });
    std::ranges::stable_sort(savers, {}, &Remedy::costs);
    std::vector<Change> candidates;
    for (const Remedy& saver : savers) candidates.push_back(saver.changes.front());
    const std::optional<RunSpec> fitting = with_changes(run_, fits);
    for (Change& loosening : loosenings_for(*fitting)) candidates.push_back(std::move(loosening));
    std::vector<std::vector<Change>> sets;
    for (const Change& candidate : candidates) {
      const bool excluded = std::ranges::any_of(
          fits, [&](const Change& change) { return exclude_each_other(change, candidate); });
      if (excluded || sets.size() == kMostAdditions) continue;
      sets.push_back(fits);
      sets.back().push_back(candidate);
    }
    const std::vector<Remedy> tried = simulate(std::move(sets), kMostAdditions, nullptr);
    found_.additions = tried.size();
    for (const Remedy& remedy : tried) {
      const SimTime least =
          found_.faster ? found_.faster->step_time : found_.answers.front().step_time;
      if (remedy.fits && remedy.step_time < least) found_.faster = remedy;
    }
  }

  const RunSpec& run_;
  const Report& report_;
  const SimulateAll& simulate_all_;
  Remedies found_;
  std::vector<PhaseSavings> savings_;  // of each of found_.alone
  std::optional<Remedy> least_;        // needs least of all that do not fit
  std::int64_t rows_ = 0;              // simulated
};

}  // namespace

bool Remedy::alters_training() const {
  return std::ranges::any_of(changes, &Change::alters_training);
}

std::int64_t rows_simulated(const RunSpec& run) {
  const Policy* policy = find_policy(run.checkpoint_policy);
  const bool caching = run.allocator.kind != "ideal";
  std::int64_t times = caching ? 2 + kMostLaterSteps : 2;
  if (policy->plans_for_budget()) times *= 3 * static_cast<std::int64_t>(1 + policy->rivals.size());
  if (policy->moves == Policy::Moves::kBySearch) times *= 4;
  const ActivationOffload& activations = run.offload.activations;
  const bool foresees = activations.to != ActivationOffload::To::kGpu &&
                        activations.when == ActivationOffload::When::kFitsInWindow;
  if (foresees) times *= 4;
  return times * scenarios::estimate_rows(run);
}

std::optional<Remedies> find_remedies(const RunSpec& run, const Report& report,
                                      const SimulateAll& simulate_all) {
  if (report.fits()) return std::nullopt;
  return Search(run, report, simulate_all).run();
}

}  // namespace tidemark::tools
