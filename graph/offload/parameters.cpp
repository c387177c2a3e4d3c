#include "graph/offload/parameters.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "graph/offload/pool.hpp"
#include "graph/offload/visits.hpp"
#include "hardware/ensure.hpp"

namespace tidemark {
namespace {

using To = ParameterOffload::To;

struct Uses {
  std::uint32_t visit = 0;
  OpId first{};
  OpId last{};
};

std::vector<ParameterUnit> make_units(const StepGraph& graph) {
  std::vector<ParameterUnit> units;
  std::map<std::int16_t, std::size_t> of_layer;
  for (const Parameter& parameter : graph.parameters) {
    const Tensor& weight = graph.tensor(parameter.weight);
    std::size_t row = units.size();
    if (parameter.layer >= 0) row = of_layer.emplace(parameter.layer, row).first->second;
    if (row == units.size())
      units.push_back({.layer = parameter.layer, .weights = {}, .bytes = {}});
    units[row].weights.push_back(parameter.weight);
    units[row].bytes += weight.bytes;
  }
  return units;
}

// By unit: its uses, one entry a visit.
std::vector<std::vector<Uses>> find_uses(const StepGraph& graph, const std::vector<Visit>& walk,
                                         const std::vector<ParameterUnit>& units) {
  std::vector<std::uint32_t> unit_of(graph.tensors.size(), kNoIndex);
  for (std::uint32_t u = 0; u < units.size(); ++u) {
    for (const TensorId weight : units[u].weights) unit_of[index(weight)] = u;
  }
  const std::vector<std::uint32_t> visit_of = visit_of_each_op(graph, walk);
  std::vector<std::vector<Uses>> uses(units.size());
  for (std::uint32_t i = 0; i < graph.op_count(); ++i) {
    const OpId op{i};
    for (const TensorId tensor : graph.inputs_of(op)) {
      if (unit_of[index(tensor)] == kNoIndex) continue;
      const std::uint32_t visit = visit_of[i];
      ensure(visit != kNoIndex, "parameters off the GPU are read by forward and backward alone");
      std::vector<Uses>& row = uses[unit_of[index(tensor)]];
      if (row.empty() || row.back().visit != visit) row.push_back({visit, op, op});
      row.back().last = op;
    }
    for (const TensorId tensor : graph.updated_by(op)) {
      ensure(unit_of[index(tensor)] == kNoIndex,
             "the GPU does not write parameters kept elsewhere");
    }
  }
  return uses;
}

}  // namespace

ParameterPlan plan_parameters(const StepGraph& graph, const ParameterOffload& options,
                              Stays& stays) {
  ParameterPlan plan;
  if (options.to == To::kGpu) return plan;
  plan.units = make_units(graph);
  const std::vector<Visit> walk = visits(graph);
  const std::vector<std::vector<Uses>> uses = find_uses(graph, walk, plan.units);
  for (std::uint32_t u = 0; u < plan.units.size(); ++u) {
    std::vector<Stay> of_unit;
    std::uint32_t visit = 0;  // of the latest use
    for (const Uses& use : uses[u]) {
      const bool there = !of_unit.empty() && use.visit - visit <= options.prefetch;
      visit = use.visit;
      if (there) {
        of_unit.back().last = plan.fetches.back().last_use = use.last;
        continue;
      }
      plan.fetches.push_back({.unit = u,
                              .stay = static_cast<std::uint32_t>(of_unit.size()),
                              .after = before_visit(walk, use.visit, options.prefetch),
                              .first_use = use.first,
                              .last_use = use.last});
      of_unit.push_back({use.first, use.last});
    }
    for (const TensorId weight : plan.units[u].weights) stays.divide(weight, of_unit);
  }
  // kNoOp, the step's beginning, comes first.
  std::ranges::stable_sort(plan.fetches, {}, [](const ParameterFetch& fetch) {
    return std::tuple(index(fetch.after) + 1, fetch.first_use);
  });
  return plan;
}

namespace {

class ParameterTransfers {
 public:
  ParameterTransfers(Mover& mover, const ParameterOffload& options, const ParameterPlan& plan,
                     const Stays& stays)
      : mover_(mover),
        options_(options),
        plan_(plan),
        stays_(stays),
        last_read_(plan.units.size(), kNoInstance) {}

  void keep() {
    Bytes all;
    for (const ParameterUnit& unit : plan_.units) all += unit.bytes;
    const bool ssd = options_.to == To::kSsd;
    mover_.keep(ssd ? Tier::kSsd : Tier::kHost, Category::kParameters, all,
                ssd ? "parameters on the SSD" : "parameters on the host");
  }

  void add() {
    if (options_.to == To::kSsd && !plan_.fetches.empty() && !mover_.direct()) {
      Bytes largest;
      for (const ParameterFetch& fetch : plan_.fetches) {
        largest = std::max(largest, plan_.units[fetch.unit].bytes);
      }
      pool_.emplace(mover_, options_.buffers, plan_.fetches.size(), largest, "parameter buffer");
    }
    for (std::size_t i = 0; i < plan_.fetches.size(); ++i) add_fetch(i);
  }

  std::vector<InstanceId> last_reads(const StepGraph& graph) const {
    std::map<TensorId, InstanceId> of_weight;
    for (std::size_t u = 0; u < plan_.units.size(); ++u) {
      for (const TensorId weight : plan_.units[u].weights) of_weight[weight] = last_read_[u];
    }
    std::vector<InstanceId> of_parameter;
    for (const Parameter& p : graph.parameters) of_parameter.push_back(of_weight.at(p.weight));
    return of_parameter;
  }

 private:
  void add_fetch(std::size_t i) {
    const ParameterFetch& fetch = plan_.fetches[i];
    const ParameterUnit& unit = plan_.units[fetch.unit];
    std::optional<InstanceId> read;
    if (pool_) {
      // Reads run ahead as far as buffers are free.
      read = mover_.read_to_fetch(unit.bytes, name_of(unit) + " from the SSD", unit.layer);
      pool_->begin(i, *read);
    }
    const bool direct = options_.to == To::kSsd && mover_.direct();
    const InstanceId copy =
        direct ? mover_.fetch_directly(unit.bytes, name_of(unit) + " from the SSD", unit.layer)
               : mover_.fetch(unit.bytes, name_of(unit) + " to the GPU", unit.layer);
    mover_.after(copy, fetch.after);
    if (read) {
      mover_.depend(copy, *read);
      pool_->use(i, copy);
      pool_->end(i, copy);
    }
    last_read_[fetch.unit] = read.value_or(copy);
    mover_.before(fetch.first_use, copy);
    // All of a unit comes and goes together, whatever of it is read.
    for (const TensorId weight : unit.weights) {
      const BufferId buffer = stays_.buffer_of_stay(weight, fetch.stay);
      mover_.use(copy, buffer);
      mover_.use(InstanceId{index(fetch.last_use)}, buffer);
    }
  }

  std::string name_of(const ParameterUnit& unit) const {
    if (unit.layer >= 0) return "parameters of layer " + std::to_string(unit.layer);
    const Tensor& weight = mover_.graph().tensor(unit.weights.front());
    return std::string(mover_.graph().name(weight.name));
  }

  Mover& mover_;
  const ParameterOffload& options_;
  const ParameterPlan& plan_;
  const Stays& stays_;
  std::vector<InstanceId> last_read_;  // by unit
  std::optional<Pool> pool_;           // ssd
};

}  // namespace

std::vector<InstanceId> fetch_parameters(Mover& mover, const ParameterOffload& options,
                                         const ParameterPlan& plan, const Stays& stays, bool kept) {
  if (options.to == To::kGpu) return {};
  ParameterTransfers moves(mover, options, plan, stays);
  if (kept) moves.keep();
  moves.add();
  return moves.last_reads(mover.graph());
}

}  // namespace tidemark
