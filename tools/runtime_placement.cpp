#include "tools/runtime_placement.hpp"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "graph/remat/dtr.hpp"
#include "hardware/ensure.hpp"
#include "sim/executor.hpp"

namespace tidemark::tools {
namespace online {

// Which op of the problem an instance of the program plays, and the buffers of its tensors.
class Ties {
 public:
  Ties(const PlannedStep& planned, const remat::StepProblem& step) : step_(step) {
    const Program& program = planned.program;
    std::vector<remat::TensorIndex> tensor(planned.graph.tensors.size(), remat::kNone);
    for (std::size_t i = 0; i < step.tensors.size(); ++i) {
      tensor[index(step.tensors[i])] = static_cast<remat::TensorIndex>(i);
    }
    tie_buffers(program, tensor);
    instances_.resize(step.ops.size());
    std::vector<InstanceId> instance_of(planned.graph.op_count(), kNoInstance);
    for (std::uint32_t i = 0; i < program.instances.size(); ++i) {
      if (program.instances[i].op != kNoOp) {
        instance_of[index(program.instances[i].op)] = InstanceId{i};
      }
    }
    instances.resize(program.instances.size());
    for (remat::OpIndex op = 0; op < step.ops.size(); ++op) {
      for (const OpId id : step.ops[op]) {
        const InstanceId instance = instance_of[index(id)];
        ensure(instance != kNoInstance, "every op is an instance");
        instances_[op].push_back(instance);
        tie(planned.graph, id, op, tensor, instances[index(instance)]);
      }
      instances[index(instances_[op].back())].last = true;
      first = std::min(first, *std::ranges::min_element(instances_[op]));
    }
  }

  struct Tied {
    remat::OpIndex op = remat::kNone;        // of the problem; none: another pass, or the update
    bool last = false;                       // of the instances that are that op
    std::vector<remat::TensorIndex> inputs;  // that other ops make
    std::vector<BufferId> makes;
  };

  const std::vector<InstanceId>& of(remat::OpIndex op) const { return instances_[op]; }

  std::vector<Tied> instances;              // by InstanceId
  std::vector<BufferId> buffers;            // by tensor of the problem
  std::vector<remat::TensorIndex> tensors;  // by BufferId; kNone: none of the problem
  std::vector<BufferId> read_again;         // there before the pass; ops that may run again
                                            // read them
  std::vector<bool> is_read_again;          // by BufferId
  InstanceId first{kNoIndex};               // of the pass

 private:
  void tie_buffers(const Program& program, const std::vector<remat::TensorIndex>& tensor) {
    buffers.assign(step_.tensors.size(), kNoBuffer);
    tensors.assign(program.buffers.size(), remat::kNone);
    is_read_again.assign(program.buffers.size(), false);
    buffer_of_.assign(tensor.size(), kNoBuffer);
    for (std::uint32_t b = 0; b < program.buffers.size(); ++b) {
      const Buffer& buffer = program.buffers[b];
      if (buffer.tier != Tier::kHbm || buffer.tensor == kNoTensor) continue;
      buffer_of_[index(buffer.tensor)] = BufferId{b};
      tensors[b] = tensor[index(buffer.tensor)];
      if (tensors[b] != remat::kNone) buffers[tensors[b]] = BufferId{b};
    }
  }

  void tie(const StepGraph& graph, OpId id, remat::OpIndex op,
           const std::vector<remat::TensorIndex>& tensor, Tied& tied) {
    tied.op = op;
    const auto read = [&](TensorId t) {
      const remat::TensorIndex in = tensor[index(t)];
      const BufferId buffer = buffer_of_[index(t)];
      if (in == remat::kNone) {
        if (!step_.problem.op(op).recomputable || buffer == kNoBuffer) return;
        if (!is_read_again[index(buffer)]) read_again.push_back(buffer);
        is_read_again[index(buffer)] = true;
      } else if (step_.problem.tensor(in).producer != op &&
                 std::ranges::find(tied.inputs, in) == tied.inputs.end()) {
        tied.inputs.push_back(in);
      }
    };
    for (const TensorId t : graph.inputs_of(id)) read(t);
    for (const TensorId t : graph.updated_by(id)) read(t);
    for (const TensorId t : graph.outputs_of(id)) {
      if (buffer_of_[index(t)] != kNoBuffer) tied.makes.push_back(buffer_of_[index(t)]);
    }
  }

  const remat::StepProblem& step_;
  std::vector<std::vector<InstanceId>> instances_;  // by op of the problem
  std::vector<BufferId> buffer_of_;                 // by tensor of the step
};

// DtrRun's decisions, asked for as instances and buffers.
class DtrPolicy final : public sim::RuntimePolicy {
 public:
  DtrPolicy(const Ties& ties, const remat::Problem& problem, remat::DtrRun run)
      : ties_(ties), problem_(problem), run_(std::move(run)) {}

  remat::Sequence sequence() && { return std::move(sequence_); }

  InstanceId again_before(InstanceId next) override {
    if (members_.empty()) {
      const Ties::Tied& tied = ties_.instances[index(next)];
      if (tied.op == remat::kNone) return kNoInstance;
      const remat::OpIndex again = run_.again_before(tied.op, tied.inputs);
      if (again == remat::kNone) return kNoInstance;
      members_ = ties_.of(again);
    }
    return members_.front();
  }

  BufferId evict(SimTime now) override {
    const remat::TensorIndex out = run_.evict(now.count());
    return out == remat::kNone ? kNoBuffer : ties_.buffers[out];
  }

  std::span<const BufferId> makes(InstanceId instance) override {
    return ties_.instances[index(instance)].makes;
  }

  void ran(InstanceId instance, bool again, SimTime now) override {
    needless_.clear();
    const Ties::Tied& tied = ties_.instances[index(instance)];
    if (tied.op == remat::kNone) return;
    if (!again) {
      run_.ran(now.count(), tied.last);
      if (tied.last) dying_ = done_ = tied.op;
    } else {
      members_ = members_.subspan(1);
      if (!members_.empty()) return;
      run_.ran(now.count());
      for (const remat::TensorIndex made : problem_.outputs(tied.op)) {
        if (run_.dead(made)) add_needless(made);
      }
    }
    if (tied.last) sequence_.push_back(tied.op);
  }

  bool lets_go(BufferId buffer) override {
    const bool over = done_ + 1 == problem_.op_count() && dying_ == remat::kNone;
    if (over) return true;
    const remat::TensorIndex tensor = ties_.tensors[index(buffer)];
    if (tensor == remat::kNone) return !ties_.is_read_again[index(buffer)];
    if (problem_.tensor(tensor).keep || (done_ != remat::kNone && run_.dies_by(tensor, done_))) {
      return true;
    }
    if (run_.stays(tensor)) return false;
    if (run_.resident(tensor)) run_.let_go(tensor);
    return true;
  }

  std::span<const BufferId> needless() override {
    if (dying_ == remat::kNone) return needless_;
    for (const remat::TensorIndex tensor : run_.dying(dying_)) add_needless(tensor);
    run_.bury(dying_);
    dying_ = remat::kNone;
    if (done_ + 1 == problem_.op_count()) {
      needless_.insert(needless_.end(), ties_.read_again.begin(), ties_.read_again.end());
    }
    return needless_;
  }

 private:
  void add_needless(remat::TensorIndex tensor) {
    if (ties_.buffers[tensor] != kNoBuffer) needless_.push_back(ties_.buffers[tensor]);
  }

  const Ties& ties_;
  const remat::Problem& problem_;
  remat::DtrRun run_;
  std::span<const InstanceId> members_;  // of the op that runs again: those still to run
  std::vector<BufferId> needless_;
  remat::OpIndex done_ = remat::kNone;   // of the step, the last one
  remat::OpIndex dying_ = remat::kNone;  // that one, until needless() was asked
  remat::Sequence sequence_;
};

}  // namespace online

bool runs_online(const Policy& policy, const scenarios::RunSpec& run) {
  return policy.runtime != nullptr && run.offload.activations.to == ActivationOffload::To::kGpu &&
         run.offload.parameters.to == ParameterOffload::To::kGpu;
}

struct OnlineStep::Tied {
  const remat::Problem& problem;
  const Policy& policy;
  std::vector<PolicyOption> options;
  Steps steps;
  online::Ties ties;

  Tied(const PlanningBase& base, const Policy& of, const scenarios::RunSpec& run)
      : problem(base.step.problem),
        policy(of),
        options(run.checkpoint_options),
        steps(steps_of(base, run, remat::keep_everything(problem), nullptr)),
        ties(steps.steady(), base.step) {}
};

OnlineStep::OnlineStep(const PlanningBase& base, const Policy& policy,
                       const scenarios::RunSpec& run)
    : tied_(std::make_unique<const Tied>(base, policy, run)) {}

OnlineStep::~OnlineStep() = default;
OnlineStep::OnlineStep(OnlineStep&&) noexcept = default;

OnlineStep::Outcome OnlineStep::play(Bytes hbm) const {
  online::DtrPolicy deciding(tied_->ties, tied_->problem,
                             tied_->policy.runtime(tied_->problem, tied_->options));
  sim::SimulateOptions how;
  how.capacity = sim::Capacity::kIgnored;
  how.ruled = {&deciding, tied_->ties.first, hbm};
  const sim::Result result = sim::simulate(tied_->steps.steady().program, how);
  Outcome outcome;
  outcome.end = result.end;
  outcome.peak = result.allocators[static_cast<std::size_t>(Tier::kHbm)].end.allocated_peak;
  if (!result.out_of_memory) outcome.sequence = std::move(deciding).sequence();
  return outcome;
}

Planner runtime_planner(const PlanningBase& base, const Policy& policy,
                        const scenarios::RunSpec& run) {
  const auto step = std::make_shared<const OnlineStep>(base, policy, run);
  return [step](std::int64_t budget) -> std::optional<Placement> {
    auto outcome = step->play(Bytes(budget));
    if (!outcome.sequence) return std::nullopt;
    return Placement{*std::move(outcome.sequence), kAtRunTime};
  };
}

}  // namespace tidemark::tools
