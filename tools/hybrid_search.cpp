#include "tools/hybrid_search.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include "graph/offload/saved_tensors.hpp"
#include "graph/remat/referee.hpp"
#include "hardware/ensure.hpp"

namespace tidemark::tools {
namespace {

constexpr int kProxies = 8;           // budgets of the recompute planner that are looked at first
constexpr int kRefinements = 2;       // each halves the distance to the best one's neighbours
constexpr int kMostTrialsAPlan = 7;   // to find how much has to move
constexpr std::int64_t kShares = 64;  // of all that can move: how exactly that is found
constexpr std::array<std::int64_t, 2> kDeeperPrefetches = {2, 4};

enum class Destination { kAny, kHost, kSsd };  // in the order of the option's choices

// One order of ops, without moves.
struct Recomputation {
  std::int64_t proxy = 0;
  Placement placement;
  remat::Verdict verdict;
  Trial alone;
  Bytes movable;                // of a pass
  std::optional<SimTime> best;  // within the budget
};

class HybridSearch {
  using To = ActivationOffload::To;

 public:
  HybridSearch(const PlanningBase& base, const Planner& planner, const scenarios::RunSpec& run,
               FoundPlan start)
      : base_(base),
        problem_(base.step.problem),
        planner_(planner),
        run_(run),
        to_(static_cast<Destination>(run.checkpoint_options.at(1).integer)),
        budget_(budget_of(run)),
        found_(std::move(start)) {}

  void find() {
    if (found_.note.met && found_.note.recompute.count() == 0) return;
    const std::int64_t everything = remat::referee(problem_, remat::keep_everything(problem_)).peak;
    const std::int64_t least =
        found_.note.met ? found_.note.proxy.count : remat::needs_at_least(problem_).bytes;
    // What keeps most comes first: what is found early spares others.
    for (int i = 0; i < kProxies; ++i) look_at(everything - (everything - least) / kProxies * i);
    for (int i = 0; i < kRefinements; ++i) look_beside_best();
    deepen();
  }

  FoundPlan found(ActivationOffload& moves) && {
    moves = moves_;
    return std::move(found_);
  }

 private:
  // The best step with the plan for `proxy`.
  void look_at(std::int64_t proxy) {
    const auto begin = std::chrono::steady_clock::now();
    auto placement = planner_(proxy);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    found_.note.planning_seconds += seconds.count();
    if (!placement) return;
    const auto same = [&](const Recomputation& other) {
      return other.placement.sequence == placement->sequence;
    };
    if (std::ranges::any_of(looked_at_, same)) return;
    Recomputation plan{proxy, *std::move(placement), {}, {}, {}, {}};
    plan.verdict = remat::referee(problem_, plan.placement.sequence);
    const Steps steps = steps_of(base_, run_, plan.placement.sequence, nullptr);
    plan.alone = try_out(run_, steps);
    plan.movable = movable(steps.steady().graph);
    ++found_.note.simulations;
    offer(plan, plan.alone, {});
    if (plan.alone.peak > budget_) move(plan, {});
    const auto later = std::ranges::upper_bound(looked_at_, proxy, {}, &Recomputation::proxy);
    looked_at_.insert(later, std::move(plan));
  }

  Bytes movable(const StepGraph& graph) const {
    Bytes sum;
    ActivationOffload all;
    all.to = To::kHost;
    for (const SavedTensor& x : saved_tensors(graph, all)) sum += graph.tensor(x.tensor).bytes;
    return Bytes(sum.count / run_.training.micro_batches);
  }

  // Moves no more than needed, and what does not make the GPU wait.
  void move(Recomputation& plan, const ActivationOffload& options) {
    if (plan.movable.count == 0) return;
    // Moves make no step faster.
    if (found_.note.met && plan.alone.time >= found_.time) return;
    ActivationOffload hidden = some(plan, plan.movable, options);
    hidden.when = ActivationOffload::When::kFitsInWindow;
    try_moves(plan, hidden);

    std::int64_t few = 0, enough = 0;
    Bytes above = plan.alone.peak, within;
    std::int64_t next = std::min((plan.alone.peak - budget_).count, plan.movable.count);
    for (int i = 0; i < kMostTrialsAPlan; ++i) {
      const Trial trial = try_moves(plan, some(plan, Bytes(next), options));
      if (trial.peak <= budget_) {
        enough = next;
        within = trial.peak;
      } else if (next == plan.movable.count) {
        return;
      } else {
        few = next;
        above = trial.peak;
      }
      if (enough == 0) {
        next = plan.movable.count;
        continue;
      }
      const std::int64_t between = enough - few;
      if (between <= std::max<std::int64_t>(plan.movable.count / kShares, 1)) return;
      const auto share = static_cast<double>((above - budget_).count) /
                         static_cast<double>(std::max<std::int64_t>((above - within).count, 1));
      next = few +
             static_cast<std::int64_t>(static_cast<double>(between) * std::clamp(share, 0.1, 0.9));
    }
  }

  // `bytes` of a pass, to where there is room.
  ActivationOffload some(const Recomputation& plan, Bytes bytes,
                         const ActivationOffload& options) const {
    ActivationOffload moves = options;
    moves.to = to_ == Destination::kSsd ? To::kSsd : To::kHost;
    moves.most = bytes;
    if (to_ != Destination::kAny) return moves;
    Bytes room = run_.machine.host.capacity - plan.alone.host;
    // A block of page-locked memory may be up to twice as large as what lies in it.
    if (run_.offload.transport.pinned_pool == Transport::PinnedPool::kPowerOfTwo) {
      room = Bytes(room.count / 2);
    }
    if (bytes <= room) return moves;
    if (run_.offload.transport.ssd_path != Transport::SsdPath::kDirect) {
      room = room - std::min(bytes, kStagingPool);
    }
    if (room <= Bytes(0)) {
      moves.to = To::kSsd;
    } else {
      moves.most = room;
      moves.ssd_first = bytes - room;
    }
    return moves;
  }

  Trial try_moves(Recomputation& plan, const ActivationOffload& moves) {
    scenarios::RunSpec run = run_;
    run.offload.activations = moves;
    const Trial trial = try_out(run, steps_of(base_, run, plan.placement.sequence, nullptr));
    ++found_.note.simulations;
    offer(plan, trial, moves);
    return trial;
  }

  void offer(Recomputation& plan, const Trial& trial, const ActivationOffload& moves) {
    if (!trial.room) return;
    const bool met = trial.peak <= budget_;
    if (met) plan.best = std::min(plan.best.value_or(trial.time), trial.time);
    PlacementNote& note = found_.note;
    const bool better = met != note.met                    ? met
                        : met && trial.time != found_.time ? trial.time < found_.time
                                                           : trial.peak < note.peak;
    if (!better) return;
    found_.sequence = plan.placement.sequence;
    found_.time = trial.time;
    note.peak = trial.peak;
    note.proxy = Bytes(plan.proxy);
    note.met = met;
    note.method = std::string(plan.placement.method);
    note.recompute = SimTime(plan.verdict.recompute_time);
    note.bound.reset();  // of plans that move nothing
    moves_ = moves;
  }

  // The plan that the best step follows, among its neighbours by proxy.
  std::optional<std::size_t> best_place() const {
    std::optional<std::size_t> place;
    for (std::size_t i = 0; i < looked_at_.size(); ++i) {
      if (!looked_at_[i].best) continue;
      if (!place || *looked_at_[i].best < *looked_at_[*place].best) place = i;
    }
    return place;
  }

  void look_beside_best() {
    const std::optional<std::size_t> place = best_place();
    if (!place) return;
    const std::int64_t proxy = looked_at_[*place].proxy;
    const auto halfway = [&](std::size_t other) {
      return proxy + (looked_at_[other].proxy - proxy) / 2;
    };
    std::vector<std::int64_t> next;
    if (*place > 0) next.push_back(halfway(*place - 1));
    if (*place + 1 < looked_at_.size()) next.push_back(halfway(*place + 1));
    for (const std::int64_t each : next) look_at(each);
  }

  // Copies back that begin earlier need memory for longer, and make the GPU wait less.
  void deepen() {
    const std::optional<std::size_t> place = best_place();
    if (!place || moves_.to == To::kGpu) return;
    for (const std::int64_t prefetch : kDeeperPrefetches) {
      ActivationOffload options;
      options.prefetch = prefetch;
      move(looked_at_[*place], options);
      // What keeps most needs but a little more to be hidden, and then costs nothing.
      if (Recomputation& most = looked_at_.back(); &most != &looked_at_[*place]) {
        move(most, options);
      }
    }
  }

  const PlanningBase& base_;
  const remat::Problem& problem_;
  const Planner& planner_;
  const scenarios::RunSpec& run_;
  const Destination to_;
  const Bytes budget_;
  FoundPlan found_;  // the best step so far; `moves_` are its
  ActivationOffload moves_;
  std::vector<Recomputation> looked_at_;  // by proxy, ascending
};

}  // namespace

FoundPlan find_hybrid(const PlanningBase& base, const Planner& planner,
                      const scenarios::RunSpec& run, FoundPlan start, ActivationOffload& moves) {
  HybridSearch search(base, planner, run, std::move(start));
  search.find();
  return std::move(search).found(moves);
}

}  // namespace tidemark::tools
