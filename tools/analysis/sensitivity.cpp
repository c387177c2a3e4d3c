#include "tools/analysis/sensitivity.hpp"

#include <algorithm>
#include <atomic>
#include <memory>

#include "tools/analysis/least_rate.hpp"
#include "tools/analysis/what_if.hpp"
#include "tools/parallel.hpp"

namespace tidemark::tools {
namespace {

using scenarios::RunSpec;

Machine with_rate(const Machine& machine, const Mover& mover, std::int64_t rate) {
  Machine changed = machine;
  mover.set(changed, rate);
  return changed;
}

Machine with_all_endless(const Machine& machine) {
  Machine changed = machine;
  for (const Mover& mover : movers()) {
    if (mover.rate(machine) > 0) mover.set(changed, kEndlessRate);
  }
  return changed;
}

// The movers' share of a critical path, the largest first.
std::optional<Resource> largest_mover(const ByResource& path) {
  std::optional<Resource> largest;
  SimTime most{};
  for (const Resource resource :
       {Resource::kPcieH2d, Resource::kPcieD2h, Resource::kNvmeRead, Resource::kNvmeWrite,
        Resource::kCpuOptimizer, Resource::kCommunication}) {
    const SimTime time = path[static_cast<std::size_t>(resource)];
    if (time <= most) continue;
    most = time;
    largest = resource;
  }
  return largest;
}

// One run as it is, and what is asked about it.
class Questions {
 public:
  explicit Questions(const RunSpec& run) : what_if_(run), now_(what_if_.play(run.machine)) {
    found_.strategy = run.strategy;
    found_.point = run.point;
    found_.fits = now_.fits;
    found_.step_time = now_.step_time;
    for (const Figure& figure : figures()) {
      if (figure.amount(run.machine).count <= 0) continue;
      Effect& effect = found_.effects.emplace_back();
      effect.figure = &figure;
      effect.from = figure.amount(run.machine);
    }
    for (const Mover& mover : movers()) {
      if (mover.rate(run.machine) <= 0 || !uses(mover)) continue;
      Needed& needed = found_.needed.emplace_back();
      needed.mover = &mover;
      needed.has = mover.rate(run.machine);
      if (mover.link) needed.moves = now_.moved[static_cast<std::size_t>(*mover.link)];
    }
    played_ = 1;
    if (found_.needed.empty()) {
      found_.step_endless = found_.step_time;
    } else {
      found_.step_endless = step_time(with_all_endless(run.machine));
    }
  }

  std::size_t effects() const { return found_.effects.size(); }
  std::size_t count() const { return found_.effects.size() + found_.needed.size(); }

  // Each part writes to its own place.
  void answer(std::size_t part) {
    if (part < found_.effects.size()) {
      answer(found_.effects[part]);
    } else {
      answer(found_.needed[part - found_.effects.size()]);
    }
  }

  Sensitivity finish() && {
    std::ranges::stable_sort(found_.effects, std::greater(), &Effect::saves);
    found_.simulations = played_;
    return std::move(found_);
  }

 private:
  // A CPU that updates parameters streams them through DRAM, and copies its results back.
  bool uses(const Mover& mover) const {
    if (mover.link) return now_.moved[static_cast<std::size_t>(*mover.link)].count > 0;
    return now_.updates_on_cpu;
  }

  SimTime step_time(const Machine& machine) {
    ++played_;
    return what_if_.step_time(machine, now_.fits);
  }

  void answer(Effect& effect) {
    Machine better = what_if_.machine();
    effect.figure->improve(better);
    effect.to = effect.figure->amount(better);
    const WhatIf then = what_if_.play(better);
    ++played_;
    effect.fits = then.fits;
    effect.step_time = then.step_time;
    effect.saves = now_.step_time - then.step_time;
  }

  void answer(Needed& needed) {
    const Mover& mover = *needed.mover;
    const WhatIf endless = what_if_.play(with_rate(what_if_.machine(), mover, kEndlessRate));
    ++played_;
    needed.step_endless = endless.step_time;
    needed.hidden = as_good_as(endless.step_time, found_.step_endless);
    if (!needed.hidden) {
      needed.binds = largest_mover(endless.critical_path);
      if (needed.binds) {
        needed.binds_for = endless.critical_path[static_cast<std::size_t>(*needed.binds)];
        needed.update_pace = endless.update_pace;
      }
    }
    const LeastRate least =
        least_rate_on(what_if_.machine(), needed, now_.step_time, needed.step_endless);
    needed.needs = least.rate;
    needed.step_needed = least.time;
    const Machine others = with_all_endless(what_if_.machine());
    const SimTime alone = step_time(with_rate(others, mover, needed.has));
    needed.to_hide = least_rate_on(others, needed, alone, found_.step_endless).rate;
  }

  LeastRate least_rate_on(const Machine& machine, const Needed& needed, SimTime now,
                          SimTime endless) {
    return least_rate(needed.has, now, endless, [&](std::int64_t rate) {
      return step_time(with_rate(machine, *needed.mover, rate));
    });
  }

  WhatIfs what_if_;
  WhatIf now_;
  Sensitivity found_;
  std::atomic<std::size_t> played_ = 0;
};

}  // namespace

std::vector<Effect> effects_of(const RunSpec& run) {
  Questions questions(run);
  for (std::size_t part = 0; part < questions.effects(); ++part) questions.answer(part);
  return std::move(questions).finish().effects;
}

std::vector<Sensitivity> sensitivities(
    std::span<const RunSpec> runs, const std::function<void(std::size_t, std::size_t)>& progress) {
  std::vector<std::unique_ptr<Questions>> asked(runs.size());
  run_parallel(runs.size(),
               [&](std::size_t i) { asked[i] = std::make_unique<Questions>(runs[i]); });

  std::vector<std::pair<std::size_t, std::size_t>> parts;  // run, part of it
  for (std::size_t i = 0; i < asked.size(); ++i) {
    for (std::size_t part = 0; part < asked[i]->count(); ++part) parts.emplace_back(i, part);
  }
  run_parallel(
      parts.size(), [&](std::size_t i) { asked[parts[i].first]->answer(parts[i].second); },
      [&](std::size_t finished) {
        if (progress) progress(finished, parts.size());
      });

  std::vector<Sensitivity> found;
  for (std::unique_ptr<Questions>& each : asked) found.push_back(std::move(*each).finish());
  return found;
}

}  // namespace tidemark::tools
