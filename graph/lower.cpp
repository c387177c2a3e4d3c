#include "graph/lower.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/autograd.hpp"
#include "graph/buckets.hpp"
#include "graph/categories.hpp"
#include "graph/models/architectures.hpp"
#include "graph/ops/ops.hpp"
#include "graph/optimizers/optimizer.hpp"
#include "hardware/ensure.hpp"

namespace tidemark {

namespace {

// One parameter with what the optimizer keeps for it.
struct Trained {
  std::uint32_t leaf = kNoNode;
  Value weight;
  Updated updated;  // its master copy's, or its own
  UpdateOn update = UpdateOn::kGpu;
};

class Lowering {
 public:
  explicit Lowering(const LoweringInput& input)
      : input_(input),
        tape_(input.kernels),
        mixed_(input.training.precision == Precision::kBf16Mixed),
        copies_gradients_(mixed_ &&
                          input.kernels.master_gradients == Kernels::MasterGradients::kCopy),
        keeps_gradients_(input.kernels.zero_grad == Kernels::ZeroGrad::kKeep) {
    script_ = row_of(input.model.architecture).make(tape_, input_);
    if (input.model.extra_parameters > 0) make_extra_parameters();
    const Shape tokens = {input.training.micro_batch, input.training.sequence};
    batch_.tokens = tape_.initial(tokens, DType::kI64, Category::kInputs, "tokens");
    batch_.positions = tape_.initial(tokens, DType::kI64, Category::kInputs, "positions");
    batch_.labels = tape_.initial(tokens, DType::kI64, Category::kInputs, "labels");
    for (const TrainedTensor& x : script_->parameters) trained_.push_back({x.leaf, x.weight, {}});
    place_updates();
    for (Trained& x : trained_) make_states(x);
  }

  StepGraph run() {
    for (std::int64_t i = 0; i < input_.training.micro_batches; ++i) {
      const bool last = i + 1 == input_.training.micro_batches;
      run_pass(last);
    }
    note_gradients();
    tape_.phase = Phase::kOptimizer;
    tape_.module = Module::kOptimizer;
    update();
    tape_.phase = Phase::kZeroGrad;
    clear_gradients();
    return finish();
  }

 private:
  bool steady() const { return input_.step == StepKind::kSteady; }

  // Trainable elements outside the forward; their gradient is the last that backward makes.
  void make_extra_parameters() {
    const bool full = input_.training.precision == Precision::kFp32 ||
                      input_.training.precision == Precision::kAutocast;
    TrainedTensor extra;
    extra.weight = tape_.initial({input_.model.extra_parameters}, full ? DType::kF32 : DType::kBf16,
                                 Category::kParameters, "extra parameters");
    extra.leaf = tape_.make_leaf(extra.weight);
    tape_.leaves()[extra.leaf].parameter = true;
    extra_leaf_ = extra.leaf;
    script_->parameters.push_back(extra);
  }

  Value initial_like(const Value& x, DType dtype, Category category, std::string_view suffix = {}) {
    const Tensor& weight = tape_.graph().tensors[x->storage];
    const std::int16_t before = std::exchange(tape_.layer, weight.layer);
    std::string name(tape_.graph().names[index(weight.name)]);
    name += suffix;
    Value y = tape_.initial(x.shape(), dtype, category, name);
    tape_.layer = before;
    return y;
  }

  // The first parameters of the model, as DeepSpeed's partial offload takes the first of its
  // sub-groups (runtime/zero/stage3.py, subgroup_to_device).
  void place_updates() {
    std::int64_t all = 0;
    for (const Trained& x : trained_) all += x.weight.shape().elements();
    const double most = input_.update_share * static_cast<double>(all);
    std::int64_t placed = 0;
    for (Trained& x : trained_) {
      placed += x.weight.shape().elements();
      if (static_cast<double>(placed) > most) return;
      x.update = input_.update;
    }
  }

  void make_states(Trained& x) {
    if (keeps_gradients_ && steady()) {
      tape_.leaves()[x.leaf].gradient =
          initial_like(x.weight, x.weight.dtype(), Category::kGradients);
    }
    if (x.update == UpdateOn::kElsewhere) return;
    x.updated.target =
        mixed_ ? initial_like(x.weight, DType::kF32, Category::kMasterWeights) : x.weight;
    if (!steady() && x.update != UpdateOn::kStreamed) return;
    const Value& target = x.updated.target;
    if (copies_gradients_ && keeps_gradients_) {
      x.updated.gradient = initial_like(x.weight, DType::kF32, Category::kGradients);
    }
    for (int i = 0; i < script_->optimizer().states; ++i) {
      x.updated.states[static_cast<std::size_t>(i)] =
          initial_like(target, target.dtype(), Category::kOptimizerState, state_suffix(i));
    }
  }

  void run_pass(bool last) {
    tape_.phase = Phase::kForward;
    Outcome outcome = script_->forward(batch_);
    // The script binds its variables anew only when forward has returned.
    outcome_ = std::move(outcome);
    tape_.phase = Phase::kBackward;
    tape_.module = Module::kLoss;
    for (const Trained& x : trained_) {
      tape_.leaves()[x.leaf].gradient_leaves =
          last ? x.update == UpdateOn::kElsewhere && !keeps_gradients_
               : input_.pass_gradients == PassGradients::kLeave;
    }
    {
      const Value seed = tape_.make(OpKind::kOnes, {}, Layout(Shape{}), outcome_.loss.dtype());
      backward(tape_, outcome_.loss, seed);
    }
    tape_.forget_pass();
    tape_.module = Module::kNone;
    if (extra_leaf_ != kNoNode) make_extra_gradient();
    if (input_.pass_gradients != PassGradients::kStay) note_pass();
  }

  void note_pass() {
    for (std::uint32_t p = 0; p < trained_.size(); ++p) {
      const Leaf& leaf = tape_.leaves()[trained_[p].leaf];
      ensure(leaf.gradient_tensor != kNoTensor, "every parameter gets a gradient in every pass");
      describe_gradient(leaf.gradient_tensor, trained_[p]);
      tape_.graph().pass_gradients.push_back({p, leaf.gradient_tensor, leaf.gradient_ready});
    }
  }

  void make_extra_gradient() {
    Leaf& leaf = tape_.leaves()[extra_leaf_];
    if (leaf.gradient) {
      tape_.update(OpKind::kAddInplace, leaf.gradient, {&leaf.gradient});
    } else {
      leaf.gradient = tape_.make(OpKind::kZeros, {}, leaf.tensor.layout(), leaf.tensor.dtype());
    }
    leaf.gradient_tensor = TensorId(leaf.gradient->storage);
    leaf.gradient_ready = tape_.last_op();
    if (leaf.gradient_leaves) leaf.gradient.reset();
  }

  void describe_gradient(TensorId id, const Trained& x) {
    Tensor& gradient = tape_.graph().tensors[index(id)];
    const Tensor& weight = tape_.graph().tensors[x.weight->storage];
    gradient.category = Category::kGradients;
    gradient.name = weight.name;
    gradient.layer = weight.layer;
  }

  void note_gradients() {
    StepGraph& graph = tape_.graph();
    for (const Trained& x : trained_) {
      const Leaf& leaf = tape_.leaves()[x.leaf];
      ensure(leaf.gradient_tensor != kNoTensor, "every parameter gets a gradient");
      describe_gradient(leaf.gradient_tensor, x);
      const Tensor& weight = graph.tensors[x.weight->storage];
      Parameter parameter;
      parameter.weight = TensorId(x.weight->storage);
      parameter.gradient = leaf.gradient_tensor;
      parameter.gradient_ready = leaf.gradient_ready;
      parameter.update = x.update;
      if (mixed_ && x.update != UpdateOn::kElsewhere) {
        parameter.master = TensorId(x.updated.target->storage);
      }
      for (std::size_t i = 0; i < x.updated.states.size(); ++i) {
        const Value& state = x.updated.states[i];
        if (x.update == UpdateOn::kStreamed && state) {
          parameter.states[i] = TensorId(state->storage);
        }
      }
      parameter.elements = x.weight.shape().elements();
      parameter.layer = weight.layer;
      graph.parameters.push_back(parameter);
      graph.parameter_count += parameter.elements;
    }
  }

  // In one call of the optimizer what is all here, in groups what has to come first.
  void update() {
    std::vector<std::uint32_t> here;
    for (std::uint32_t i = 0; i < trained_.size(); ++i) {
      if (trained_[i].update == UpdateOn::kGpu) here.push_back(i);
    }
    const bool gradients_left = input_.pass_gradients != PassGradients::kStay;
    if (!gradients_left && !here.empty()) update(here, false);
    if (input_.update_group.count == 0) return;
    if (gradients_left) update_groups(UpdateOn::kGpu);
    update_groups(UpdateOn::kStreamed);
  }

  void update_groups(UpdateOn kind) {
    for (const std::vector<std::uint32_t>& group :
         bucket_rows(tape_.graph(), input_.update_group, kind)) {
      update(group, true);
    }
  }

  // A mixed-precision wrapper makes an fp32 copy of each gradient and drops the 16-bit one (or
  // writes over the copy that it kept), steps on the master weights, and copies them back.
  void update(const std::vector<std::uint32_t>& rows, bool leaves) {
    std::vector<Updated> tensors;
    for (const std::uint32_t i : rows) {
      Trained& x = trained_[i];
      Leaf& leaf = tape_.leaves()[x.leaf];
      if (!copies_gradients_) {
        x.updated.gradient = leaf.gradient;
      } else {
        if (x.updated.gradient) {
          tape_.update(OpKind::kCopy, x.updated.gradient, {&leaf.gradient});
        } else {
          x.updated.gradient = to_copy(leaf.gradient, DType::kF32);
          adopt(x.updated.gradient, x.weight, Category::kGradients);
        }
        tape_.graph().parameters[i].gradient_master = TensorId(x.updated.gradient->storage);
        if (!keeps_gradients_) leaf.gradient.reset();
      }
      tensors.push_back(std::move(x.updated));
    }
    const OptimizerRow& optimizer = script_->optimizer();
    const bool streamed = trained_[rows.front()].update == UpdateOn::kStreamed;
    if (!steady() && !streamed && !optimizer.makes_states) make_first_states(tensors);
    optimizer.step(tape_, tensors);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      trained_[rows[i]].updated = std::move(tensors[i]);
      if (optimizer.makes_states) adopt_states(trained_[rows[i]].updated);
    }
    for (const std::uint32_t i : rows) {
      Trained& x = trained_[i];
      if (mixed_) tape_.update(OpKind::kCopy, x.weight, {&x.updated.target});
      if (leaves && !keeps_gradients_) {
        x.updated.gradient.reset();
        tape_.leaves()[x.leaf].gradient.reset();
      }
      if (!streamed) continue;
      x.updated.target.reset();
      for (Value& state : x.updated.states) state.reset();
    }
  }

  void make_first_states(std::vector<Updated>& tensors) {
    for (Updated& x : tensors) {
      for (int i = 0; i < script_->optimizer().states; ++i) {
        Value& state = x.states[static_cast<std::size_t>(i)];
        state = tape_.make(OpKind::kZeros, {}, x.target.layout(), x.target.dtype());
      }
      adopt_states(x);
    }
  }

  void adopt_states(const Updated& x) {
    for (int i = 0; i < script_->optimizer().states; ++i) {
      adopt(x.states[static_cast<std::size_t>(i)], x.target, Category::kOptimizerState,
            state_suffix(i));
    }
  }

  std::string_view state_suffix(int state) const {
    if (input_.training.optimizer == Optimizer::kSgdMomentum) return ".momentum_buffer";
    return state == 0 ? ".exp_avg" : ".exp_avg_sq";
  }

  void adopt(const Value& x, const Value& owner, Category category, std::string_view suffix = {}) {
    Tensor& tensor = tape_.graph().tensors[x->storage];
    const Tensor& weight = tape_.graph().tensors[owner->storage];
    tensor.category = category;
    std::string name(tape_.graph().names[index(weight.name)]);
    tensor.name = tape_.intern(name.append(suffix));
    tensor.layer = weight.layer;
  }

  void clear_gradients() {
    const bool lists = input_.kernels.optimizer != Kernels::OptimizerKernel::kSingle;
    if (keeps_gradients_ && lists && !mixed_) {
      tape_.begin(OpKind::kForeachZero, trained_.front().weight.dtype(), {});
      for (const Trained& x : trained_) tape_.writes(tape_.leaves()[x.leaf].gradient);
    } else if (keeps_gradients_) {
      for (const Trained& x : trained_) {
        tape_.update(OpKind::kZero, tape_.leaves()[x.leaf].gradient, {});
      }
    }
    tape_.begin(OpKind::kZeroGrad, DType::kF32, {.work = WorkClass::kNone});
    if (!keeps_gradients_) {
      for (Trained& x : trained_) {
        x.updated.gradient.reset();
        tape_.leaves()[x.leaf].gradient.reset();
      }
    }
    outcome_ = {};
  }

  StepGraph finish() {
    StepGraph graph = tape_.finish();
    graph.dropout_runs_once = input_.checkpointing.keep_dropout;
    sort_into_categories(graph);
    count_model_flops(graph);
    return graph;
  }

  static void count_model_flops(StepGraph& graph) {
    for (std::size_t i = 0; i < graph.op_count(); ++i) {
      const Op& op = graph.ops[i];
      if (op.phase != Phase::kForward) continue;
      // Causal kernels skip half of the scores; utilisation counts them (PaLM, appendix B).
      if (op.work == WorkClass::kMatmul) graph.model_flops += op.flops * 3;
      if (op.work == WorkClass::kAttention) graph.model_flops += op.flops * 6;
    }
  }

  const LoweringInput input_;
  Tape tape_;
  const bool mixed_;
  const bool copies_gradients_;
  const bool keeps_gradients_;
  std::unique_ptr<Script> script_;
  std::uint32_t extra_leaf_ = kNoNode;
  Batch batch_;
  std::vector<Trained> trained_;
  Outcome outcome_;
};

}  // namespace

StepGraph lower(const LoweringInput& input) { return Lowering(input).run(); }

// Ops are linear in blocks and passes: a + b L + M (c + d L). Four tiny steps give the four
// numbers.
std::int64_t estimate_ops(const LoweringInput& input) {
  const auto count = [&](std::int64_t layers, std::int64_t passes) {
    LoweringInput tiny = input;
    tiny.model.layers = layers;
    tiny.training.micro_batches = passes;
    tiny.checkpointing.segments.clear();
    if (!input.checkpointing.segments.empty()) {
      for (std::int64_t i = 0; i < layers; ++i) tiny.checkpointing.segments.push_back({i, i + 1});
    }
    return static_cast<double>(lower(tiny).op_count());
  };
  const double base = count(1, 1);
  const double block = count(2, 1) - base;
  const double pass = count(1, 2) - base;
  const double both = count(2, 2) - base - block - pass;
  const double layers = static_cast<double>(input.model.layers - 1);
  const double passes = static_cast<double>(input.training.micro_batches - 1);
  const double ops = base + block * layers + passes * (pass + both * layers);
  return ops > 9e18 ? std::int64_t{9'000'000'000'000'000'000} : static_cast<std::int64_t>(ops);
}

}  // namespace tidemark
