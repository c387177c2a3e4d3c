#pragma once
// Runs a training script abstractly: no arithmetic, only which op makes and reads which storage,
// and when each storage dies. Records a StepGraph as it goes.
//
//   Value y = linear(x, w, b);   // records addmm; y holds a new storage
//   y = gelu(y);                 // records gelu; the autograd node keeps the old y
//   backward(loss);              // records the derivative of every node, latest first
//
// A storage lives while a Value (a variable of the script, a saved tensor of a node, a gradient in
// the engine's buffers, an optimizer's state) refers to it.

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <initializer_list>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/model.hpp"
#include "graph/node.hpp"
#include "graph/op_cache.hpp"
#include "graph/step_graph.hpp"
#include "graph/value.hpp"

namespace tidemark {

// A piece of forward: takes the activations and the constants (masks, rotary tables), returns the
// next activations. Called once on the way forward and once more when backward needs it.
using PieceFunction = std::function<Value(const Value&, const std::vector<Value>&)>;

struct Checkpoint {
  PieceFunction function;
  Value input;
  std::vector<Value> constants;
  OpCache cache;
  bool early_stop = false;
  std::vector<SavedTensorHooks::Place> places;  // non-reentrant: who waits for the replay
  std::uint32_t nodes_waiting = 0;              // nodes whose run the arguments must outlive
  bool replayed = false;
};

// What a kernel does, beside the bytes that its operands show.
struct Work {
  WorkClass work = WorkClass::kStream;
  Flops flops{};
  std::int64_t m = 0, n = 0, k = 0, batch = 0;
  std::int32_t kernels = 1;
};

// Thrown where a replay has caught all that backward needs, as the framework does it
// (torch/utils/checkpoint.py, _StopRecomputationError). What a derivative reads of an op's inputs
// is saved before its kernel is launched: `last_op_runs` says whether that of the last op was.
struct StopRecomputation {
  bool last_op_runs = true;
};

class Tape {
 public:
  explicit Tape(const Kernels& kernels) : kernels_(kernels) { kind_names_.fill(NameId{kNoIndex}); }
  ~Tape();
  Tape(const Tape&) = delete;
  Tape& operator=(const Tape&) = delete;

  // --- what the script does -------------------------------------------------------------------
  // A storage that is there before the step.
  Value initial(const Shape& shape, DType dtype, Category category, std::string_view name);
  // Declares x a leaf whose gradients accumulate; returns its row in leaves().
  std::uint32_t make_leaf(const Value& x);
  // One kernel. Reads `inputs` (empty ones are skipped), makes one storage.
  Value make(OpKind kind, std::initializer_list<const Value*> inputs, const Layout& layout,
             DType dtype, const Work& work = {});
  // A kernel that only writes over `target`.
  void update(OpKind kind, const Value& target, std::initializer_list<const Value*> inputs,
              const Work& work = {});
  // The general form: begin an op, then declare what it touches.
  OpId begin(OpKind kind, DType dtype, const Work& work);
  void reads(const Value& x);
  void writes(const Value& x);
  void modifies(const Value& x) { reads(x), writes(x); }
  // Bytes that a kernel moves once more than its operands show: another pass, scattered elements.
  void reads_again(std::int64_t bytes) { graph_.ops.back().bytes_read += Bytes(bytes); }
  void writes_again(std::int64_t bytes) { graph_.ops.back().bytes_written += Bytes(bytes); }
  void keeps(const Value& x);  // an input whose bytes are counted elsewhere
  // `part` tells several results of one op apart: "native_layer_norm.mean".
  Value makes(const Layout& layout, DType dtype, std::string_view part = {});

  // The same storage seen otherwise; the view keeps its base's record alive, as the framework's
  // does.
  Value view_of(const Value& x, const Layout& layout);
  // The same storage without history, and without keeping x's record.
  Value alias_of(const Value& x, const Layout& layout);

  // --- autograd --------------------------------------------------------------------------------
  bool gradients_enabled() const { return gradients_; }
  // Adds a node for `outputs`, made from `inputs`, unless gradients are off or none is required.
  // Returns the node or nullptr; the caller then saves what the derivative reads.
  Node* differentiate(const DerivativeRule& rule, std::initializer_list<const Value*> inputs,
                      std::initializer_list<const Value*> outputs);
  void save(Node& node, const Value& x);  // an empty Value keeps its place

  const Kernels& kernels() const { return kernels_; }
  StepGraph& graph() { return graph_; }
  std::vector<Leaf>& leaves() { return leaves_; }
  std::deque<Node>& nodes() { return nodes_; }
  std::deque<Checkpoint>& checkpoints() { return checkpoints_; }
  // Forgets the graph and the checkpoints of a pass whose backward has run.
  void forget_pass();
  // A selective checkpoint's replay has ended.
  void end_of_cached_ops();
  // The last op did not run after all: nobody holds anything that it made.
  void take_back_last_op();
  bool sole_owner(const Value& x) const;  // nobody else holds this tensor or its storage
  OpId last_op() const { return OpId(static_cast<std::uint32_t>(graph_.ops.size()) - 1); }

  // --- where we are ----------------------------------------------------------------------------
  Phase phase = Phase::kForward;
  std::int16_t layer = -1;
  Module module = Module::kNone;
  bool gradients_ = true;
  SavedTensorHooks* hooks = nullptr;  // set while a non-reentrant checkpoint's function runs

  NameId intern(std::string_view name);
  NameId name_of_result(OpKind kind, std::string_view part);
  StepGraph finish();  // closes the rows; the tape is spent

 private:
  friend void release(TensorRecord* record);
  TensorRecord* new_record();
  void drop_storage(std::uint32_t storage);
  void note_operand(const Layout& layout);
  [[noreturn]] void stop_replay(const Value& caught);
  bool last_op_writes(TensorId tensor) const;

  Kernels kernels_;
  Layout first_operand_;  // of the last op, if it is elementwise; rank -1: none yet
  bool spent_ = false;
  // Of the op begun last, in a selective checkpoint: forward keeps what it makes; the replay takes
  // that, and what else is said of the op goes nowhere.
  enum class Cached : std::uint8_t { kNo, kPut, kTaken } cached_ = Cached::kNo;
  std::vector<Value> taken_;  // its results
  StepGraph graph_;
  std::vector<std::uint32_t> storage_owners_;  // records that refer to it, by storage
  std::vector<std::uint32_t> last_touch_;      // op that used it last, by storage
  std::vector<Leaf> leaves_;
  std::map<std::string, NameId, std::less<>> interned_;
  std::array<NameId, kOpKindCount> kind_names_;
  std::deque<Node> nodes_;
  std::deque<Checkpoint> checkpoints_;
  std::deque<TensorRecord> records_;
  TensorRecord* free_records_ = nullptr;
};

// Sets where the ops belong for the length of a block of code.
class Scope {
 public:
  Scope(Tape& tape, Module module) : tape_(tape), module_(tape.module) { tape.module = module; }
  ~Scope() { tape_.module = module_; }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  Tape& tape_;
  Module module_;
};

// Switches gradient recording for the length of a block of code.
class GradientMode {
 public:
  GradientMode(Tape& tape, bool enabled) : tape_(tape), before_(tape.gradients_) {
    tape.gradients_ = enabled;
  }
  ~GradientMode() { tape_.gradients_ = before_; }
  GradientMode(const GradientMode&) = delete;
  GradientMode& operator=(const GradientMode&) = delete;

 private:
  Tape& tape_;
  bool before_;
};

}  // namespace tidemark
