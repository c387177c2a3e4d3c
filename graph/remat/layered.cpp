#include "graph/remat/layered.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace tidemark::remat {

namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max() / 4;

std::int64_t need_of(const ChainModel& model, std::size_t stage, const StageOption& option) {
  return std::max(option.forward_need, model.held[stage] + option.backward_need);
}

// What the budget leaves for what stages keep when the one that needs `need` runs.
std::int64_t room(const ChainModel& model, std::int64_t budget, std::int64_t need) {
  return budget - model.prologue_bytes - need;
}

// Nothing kept can be more than this: there is the epilogue's room, and every stage is followed by
// another or by the epilogue.
std::int64_t total_room(const ChainModel& model, std::int64_t budget) {
  return room(model, budget, model.epilogue_need);
}

std::int64_t most_bytes(const ChainModel& model) {
  std::int64_t bytes = 0;
  for (std::size_t s = 0; s < model.stage_count(); ++s) bytes += model.of(s).options.front().bytes;
  return bytes;
}

struct Levels {
  std::int64_t unit = 1;
  std::size_t count = 0;  // 0 to count - 1 units kept
  bool exact = true;
};

Levels levels_of(const ChainModel& model, std::int64_t budget, std::size_t most) {
  std::int64_t unit = 0;
  for (const StageModel& shape : model.shapes) {
    for (const StageOption& option : shape.options) unit = std::gcd(unit, option.bytes);
  }
  unit = std::max<std::int64_t>(unit, 1);
  const std::int64_t span = std::min(total_room(model, budget), most_bytes(model));
  const std::int64_t coarse = span / static_cast<std::int64_t>(most - 1) + 1;
  Levels levels;
  levels.exact = unit >= coarse;
  levels.unit = std::max(unit, coarse);
  levels.count = static_cast<std::size_t>(span / levels.unit) + 1;
  return levels;
}

class Table {
 public:
  Table(const ChainModel& model, std::int64_t budget, const Levels& levels, bool round_up)
      : model_(model), budget_(budget), levels_(levels), round_up_(round_up) {
    rows_.assign((model.stage_count() + 1) * levels.count, kNever);
    row(0)[0] = 0;
    for (std::size_t s = 0; s < model.stage_count(); ++s) {
      for (const StageOption& option : model.of(s).options) extend(s, option);
    }
  }

  // The least cost of all stages; kNever where nothing fits.
  std::int64_t least() const { return *std::min_element(last(), last() + levels_.count); }

  std::vector<std::uint32_t> options() {
    std::vector<std::uint32_t> result(model_.stage_count());
    auto level =
        static_cast<std::size_t>(std::min_element(last(), last() + levels_.count) - last());
    for (std::size_t s = model_.stage_count(); s-- > 0;) {
      const std::vector<StageOption>& options = model_.of(s).options;
      for (std::uint32_t o = 0; o < options.size(); ++o) {
        const std::size_t units = units_of(options[o].bytes);
        if (units > level || level - units >= usable(s, options[o])) continue;
        if (row(s)[level - units] + options[o].cost != row(s + 1)[level]) continue;
        result[s] = o;
        level -= units;
        break;
      }
    }
    return result;
  }

 private:
  std::int64_t* row(std::size_t stage) { return rows_.data() + stage * levels_.count; }
  const std::int64_t* last() const { return rows_.data() + model_.stage_count() * levels_.count; }

  std::size_t units_of(std::int64_t bytes) const {
    return static_cast<std::size_t>((bytes + (round_up_ ? levels_.unit - 1 : 0)) / levels_.unit);
  }

  // Levels kept by stages in front with which the option fits.
  std::size_t usable(std::size_t stage, const StageOption& option) const {
    const std::int64_t left = room(model_, budget_, need_of(model_, stage, option));
    if (left < 0) return 0;
    return std::min(static_cast<std::size_t>(left / levels_.unit) + 1, levels_.count);
  }

  void extend(std::size_t stage, const StageOption& option) {
    const std::size_t units = units_of(option.bytes);
    if (units >= levels_.count) return;
    const std::size_t count = std::min(usable(stage, option), levels_.count - units);
    const std::int64_t* from = row(stage);
    std::int64_t* to = row(stage + 1) + units;
    const std::int64_t cost = option.cost;
    for (std::size_t level = 0; level < count; ++level) {
      const std::int64_t sum = from[level] + cost;
      to[level] = sum < to[level] ? sum : to[level];
    }
  }

  const ChainModel& model_;
  std::int64_t budget_;
  Levels levels_;
  bool round_up_;
  std::vector<std::int64_t> rows_;  // least cost of the stages in front, by stage and level
};

// The hull of a stage's options as steps from the poorest to the richest.
struct Step {
  double price;  // picoseconds saved for each byte
  std::size_t shape;
  std::uint32_t to;  // option
};

std::vector<std::uint32_t> hull_of(const std::vector<StageOption>& options) {
  std::vector<std::uint32_t> hull;  // from fewest bytes to most
  const auto saved = [&](std::uint32_t a, std::uint32_t b) {
    return static_cast<double>(options[a].cost - options[b].cost) /
           static_cast<double>(options[b].bytes - options[a].bytes);
  };
  for (auto o = static_cast<std::uint32_t>(options.size()); o-- > 0;) {
    while (hull.size() >= 2 && saved(hull[hull.size() - 2], hull.back()) <= saved(hull.back(), o)) {
      hull.pop_back();
    }
    hull.push_back(o);
  }
  return hull;
}

}  // namespace

std::optional<Choice> layered(const ChainModel& model, std::int64_t budget, std::size_t levels) {
  if (budget < model.rest_need || total_room(model, budget) < 0) return {};
  const Levels fine = levels_of(model, budget, std::max<std::size_t>(levels, 2));
  Table table(model, budget, fine, true);
  Choice choice;
  choice.cost = table.least();
  if (choice.cost >= kNever) return {};
  choice.option = table.options();
  choice.at_least = fine.exact ? choice.cost : Table(model, budget, fine, false).least();
  return choice;
}

std::optional<Choice> layered_greedy(const ChainModel& model, std::int64_t budget) {
  const std::size_t count = model.stage_count();
  if (budget < model.rest_need || count == 0) return {};
  std::vector<Step> steps;
  Choice choice;
  for (const StageModel& shape : model.shapes) {
    const std::vector<std::uint32_t> hull = hull_of(shape.options);
    for (std::size_t i = 1; i < hull.size(); ++i) {
      const StageOption &from = shape.options[hull[i - 1]], &to = shape.options[hull[i]];
      steps.push_back(
          {static_cast<double>(from.cost - to.cost) / static_cast<double>(to.bytes - from.bytes),
           static_cast<std::size_t>(&shape - model.shapes.data()), hull[i]});
    }
  }
  std::stable_sort(steps.begin(), steps.end(),
                   [](const Step& a, const Step& b) { return a.price > b.price; });
  for (std::size_t s = 0; s < count; ++s) {
    choice.option.push_back(static_cast<std::uint32_t>(model.of(s).options.size() - 1));
  }
  // slack[s]: bytes that the stages in front of s can still keep; slack[count]: all stages.
  std::vector<std::int64_t> slack(count + 1);
  const auto fill_slack = [&] {
    std::int64_t kept = 0;
    for (std::size_t s = 0; s < count; ++s) {
      const StageOption& option = model.of(s).options[choice.option[s]];
      slack[s] = room(model, budget, need_of(model, s, option)) - kept;
      kept += option.bytes;
    }
    slack[count] = total_room(model, budget) - kept;
    for (std::size_t s = count; s-- > 0;) slack[s] = std::min(slack[s], slack[s + 1]);
  };
  fill_slack();
  if (slack[0] < 0) return {};
  const auto take = [&](std::size_t s, std::uint32_t to) {
    const std::vector<StageOption>& options = model.of(s).options;
    const std::uint32_t from = choice.option[s];
    if (options[to].bytes - options[from].bytes > slack[s + 1]) return false;
    choice.option[s] = to;
    const std::vector<std::int64_t> before = slack;
    fill_slack();
    if (slack[0] >= 0) return true;
    choice.option[s] = from;
    slack = before;
    return false;
  };
  for (const Step& step : steps) {
    for (std::size_t s = count; s-- > 0;) {
      if (model.shape[s] == step.shape) take(s, step.to);
    }
  }
  // What is left, to options that are not on the hull.
  for (std::size_t s = count; s-- > 0;) {
    for (std::uint32_t o = 0; o < choice.option[s]; ++o) {
      if (take(s, o)) break;
    }
  }
  for (std::size_t s = 0; s < count; ++s) {
    choice.cost += model.of(s).options[choice.option[s]].cost;
  }
  return choice;
}

std::int64_t layered_needs(const ChainModel& model) {
  std::int64_t behind = model.epilogue_need;  // what a stage's successors need beside what is kept
  for (std::size_t s = model.stage_count(); s-- > 0;) {
    std::int64_t least = kNever;
    for (const StageOption& option : model.of(s).options) {
      least = std::min(least, std::max(need_of(model, s, option), option.bytes + behind));
    }
    behind = least;
  }
  return std::max(model.rest_need, model.prologue_bytes + behind);
}

Plan plan_of(const Problem& problem, const Chain& chain, const ChainModel& model,
             const Choice& choice) {
  Plan plan = plan_of_everything(problem);
  const Readers reads = readers(problem);
  for (std::size_t s = 0; s < chain.size(); ++s) {
    for (OpIndex op = chain[s].forward_begin; op < chain[s].forward_end; ++op) {
      for (const TensorIndex tensor : problem.outputs(op)) {
        if (problem.tensor(tensor).bytes == 0) continue;
        plan.keep[tensor] = !inner(problem, reads, chain[s], tensor);
      }
    }
    for (const TensorIndex tensor : kept_by(problem, chain, model, s, choice.option[s])) {
      plan.keep[tensor] = 1;
    }
  }
  return plan;
}

}  // namespace tidemark::remat
