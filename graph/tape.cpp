#include "graph/tape.hpp"

#include <algorithm>
#include <utility>

#include "hardware/ensure.hpp"

namespace tidemark {

namespace {

bool among(const std::vector<TensorId>& rows, std::uint32_t first, TensorId tensor) {
  return std::find(rows.begin() + first, rows.end(), tensor) != rows.end();
}

bool keep_alive_needed(std::uint32_t last_touch, std::size_t op) { return last_touch != op; }

}  // namespace

Tape::~Tape() {
  spent_ = true;
  taken_.clear();
  checkpoints_.clear();
  nodes_.clear();
  leaves_.clear();
}

void Tape::forget_pass() {
  checkpoints_.clear();
  nodes_.clear();
}

TensorRecord* Tape::new_record() {
  if (free_records_ == nullptr) {
    records_.emplace_back();
    records_.back().tape = this;
    return &records_.back();
  }
  TensorRecord* const record = free_records_;
  free_records_ = record->next_free;
  return record;
}

void release(TensorRecord* record) {
  Tape& tape = *record->tape;
  tape.drop_storage(record->storage);
  Value base = std::move(record->base);
  record->requires_grad = false;
  record->node = kNoNode;
  record->leaf = kNoNode;
  record->next_free = tape.free_records_;
  tape.free_records_ = record;
}

void Tape::drop_storage(std::uint32_t storage) {
  if (--storage_owners_[storage] > 0 || spent_) return;
  ensure(!graph_.ops.empty(), "a storage dies after some op");
  const std::uint32_t op = static_cast<std::uint32_t>(graph_.ops.size()) - 1;
  graph_.tensors[storage].last_use = OpId(op);
  if (keep_alive_needed(last_touch_[storage], op)) {
    graph_.held.push_back(TensorId(storage));
  }
}

NameId Tape::intern(std::string_view name) {
  const auto found = interned_.find(name);
  if (found != interned_.end()) return found->second;
  const NameId id{static_cast<std::uint32_t>(graph_.names.size())};
  graph_.names.emplace_back(name);
  interned_.emplace(std::string(name), id);
  return id;
}

Value Tape::initial(const Shape& shape, DType dtype, Category category, std::string_view name) {
  Tensor tensor;
  tensor.bytes = Bytes(shape.elements() * size_of(dtype));
  tensor.shape = shape;
  tensor.dtype = dtype;
  tensor.category = category;
  tensor.layer = layer;
  tensor.name = intern(name);
  graph_.tensors.push_back(tensor);
  storage_owners_.push_back(1);
  last_touch_.push_back(kNoIndex);
  TensorRecord* const record = new_record();
  record->storage = static_cast<std::uint32_t>(graph_.tensors.size()) - 1;
  record->layout = Layout(shape);
  record->dtype = dtype;
  return Value(record);
}

std::uint32_t Tape::make_leaf(const Value& x) {
  const std::uint32_t leaf = static_cast<std::uint32_t>(leaves_.size());
  leaves_.emplace_back();
  leaves_.back().tensor = x;
  x->requires_grad = true;
  x->leaf = leaf;
  return leaf;
}

OpId Tape::begin(OpKind kind, DType dtype, const Work& work) {
  end_of_cached_ops();
  if (hooks != nullptr && hooks->cache != nullptr && hooks->cache->lists(kind)) {
    cached_ = hooks->replay ? Cached::kTaken : Cached::kPut;
    if (cached_ == Cached::kTaken) return last_op();
  }
  Op op;
  op.kind = kind;
  op.phase = phase;
  op.work = work.work;
  op.module = module;
  op.dtype = dtype;
  const bool narrow = size_of(dtype) == 2;
  const bool tf32 = kernels_.fp32_matmul == Kernels::Fp32Matmul::kTf32;
  op.arithmetic = narrow ? Arithmetic::k16Bit : tf32 ? Arithmetic::kTf32 : Arithmetic::k32Bit;
  op.layer = layer;
  op.m = work.m;
  op.n = work.n;
  op.k = work.k;
  op.batch = work.batch;
  op.kernels = work.kernels;
  op.flops = work.flops;
  op.first_input = static_cast<std::uint32_t>(graph_.inputs.size());
  op.first_held = static_cast<std::uint32_t>(graph_.held.size());
  op.first_output = static_cast<std::uint32_t>(graph_.outputs.size());
  op.first_updated = static_cast<std::uint32_t>(graph_.updated.size());
  graph_.ops.push_back(op);
  first_operand_.shape.rank = -1;
  return last_op();
}

// Operands of an elementwise kernel lie alike in memory if all have the same sizes and strides and
// no gaps. Single elements are passed along and do not count.
void Tape::note_operand(const Layout& layout) {
  Op& op = graph_.ops.back();
  if (op.strided || !is_elementwise(op.kind) || layout.shape.elements() <= 1) return;
  if (first_operand_.shape.rank < 0) {
    first_operand_ = layout;
    op.strided = !layout.dense();
  } else {
    op.strided = !lie_alike(first_operand_, layout);
  }
}

void Tape::end_of_cached_ops() {
  cached_ = Cached::kNo;
  taken_.clear();
}

void Tape::reads(const Value& x) {
  if (cached_ == Cached::kTaken) return;
  note_operand(x.layout());
  graph_.ops.back().bytes_read += Bytes(x.layout().distinct_elements() * size_of(x.dtype()));
  keeps(x);
}

void Tape::keeps(const Value& x) {
  if (cached_ == Cached::kTaken) return;
  const std::uint32_t op = index(last_op());
  if (last_touch_[x->storage] == op) return;
  last_touch_[x->storage] = op;
  graph_.inputs.push_back(TensorId(x->storage));
}

void Tape::writes(const Value& x) {
  ensure(cached_ == Cached::kNo, "an op that writes over its operands is not cached");
  note_operand(x.layout());
  const std::uint32_t op = index(last_op());
  graph_.ops[op].bytes_written += Bytes(x.layout().distinct_elements() * size_of(x.dtype()));
  const TensorId id{x->storage};
  if (last_touch_[x->storage] == op) {  // read too: move it from the inputs
    const auto row = graph_.inputs.begin() + graph_.ops[op].first_input;
    const auto found = std::find(row, graph_.inputs.end(), id);
    if (found == graph_.inputs.end()) return;
    graph_.inputs.erase(found);
  }
  last_touch_[x->storage] = op;
  graph_.updated.push_back(id);
}

NameId Tape::name_of_result(OpKind kind, std::string_view part) {
  if (!part.empty()) return intern(std::string(name_of(kind)) + "." + std::string(part));
  NameId& name = kind_names_[static_cast<std::size_t>(kind)];
  if (index(name) == kNoIndex) name = intern(name_of(kind));
  return name;
}

Value Tape::makes(const Layout& layout, DType dtype, std::string_view part) {
  if (cached_ == Cached::kTaken) {
    taken_.push_back(hooks->cache->take());
    ensure(taken_.back().shape() == layout.shape && taken_.back().dtype() == dtype,
           "a replay makes what forward made");
    return alias_of(taken_.back(), layout);
  }
  note_operand(layout);
  const std::uint32_t op = index(last_op());
  Tensor tensor;
  tensor.bytes = Bytes(layout.shape.elements() * size_of(dtype));
  tensor.shape = layout.shape;
  tensor.dtype = dtype;
  tensor.category = Category::kTemporaries;
  tensor.layer = layer;
  tensor.producer = OpId{op};
  tensor.name = name_of_result(graph_.ops[op].kind, part);
  graph_.ops[op].bytes_written += tensor.bytes;
  graph_.tensors.push_back(tensor);
  const std::uint32_t storage = static_cast<std::uint32_t>(graph_.tensors.size()) - 1;
  graph_.outputs.push_back(TensorId(storage));
  storage_owners_.push_back(1);
  last_touch_.push_back(op);
  TensorRecord* const record = new_record();
  record->storage = storage;
  record->layout = layout;
  record->dtype = dtype;
  Value made(record);
  if (cached_ == Cached::kPut) {
    hooks->cache->put(alias_of(made, layout));
    graph_.tensors[storage].saved = true;
    graph_.saves.push_back({TensorId(storage), intern("selective_checkpoint"), last_op()});
  }
  return made;
}

Value Tape::make(OpKind kind, std::initializer_list<const Value*> inputs, const Layout& layout,
                 DType dtype, const Work& work) {
  DType operand = dtype;
  for (const Value* x : inputs) {
    if (*x) {
      operand = x->dtype();
      break;
    }
  }
  begin(kind, operand, work);
  for (const Value* x : inputs) {
    if (*x) reads(*x);
  }
  return makes(layout, dtype);
}

void Tape::update(OpKind kind, const Value& target, std::initializer_list<const Value*> inputs,
                  const Work& work) {
  begin(kind, target.dtype(), work);
  for (const Value* x : inputs) {
    if (*x) reads(*x);
  }
  writes(target);
}

Value Tape::alias_of(const Value& x, const Layout& layout) {
  TensorRecord* const record = new_record();
  record->storage = x->storage;
  record->layout = layout;
  record->dtype = x.dtype();
  ++storage_owners_[x->storage];
  return Value(record);
}

Value Tape::view_of(const Value& x, const Layout& layout) {
  Value view = alias_of(x, layout);
  view->base = x->base ? x->base : x;
  return view;
}

bool Tape::sole_owner(const Value& x) const {
  return x->references == 1 && storage_owners_[x->storage] == 1;
}

Node* Tape::differentiate(const DerivativeRule& rule, std::initializer_list<const Value*> inputs,
                          std::initializer_list<const Value*> outputs) {
  if (!gradients_) return nullptr;
  bool required = false;
  for (const Value* x : inputs) required = required || (*x && (*x)->requires_grad);
  if (!required) return nullptr;
  ensure(inputs.size() <= kMostEdges && outputs.size() <= kMostEdges,
         "a node has at most four differentiable inputs and outputs");
  nodes_.emplace_back();
  Node& node = nodes_.back();
  const std::uint32_t id = static_cast<std::uint32_t>(nodes_.size()) - 1;
  node.rule = &rule;
  node.layer = layer;
  node.module = module;
  std::size_t i = 0;
  for (const Value* x : inputs) {
    if (*x && (*x)->requires_grad) {
      node.next[i].node = (*x)->node;
      node.next[i].leaf = (*x)->node == kNoNode ? (*x)->leaf : kNoNode;
      node.next[i].input = (*x)->output;
      node.inputs[i] = {x->shape(), x->dtype()};
    }
    ++i;
  }
  node.input_count = static_cast<std::uint8_t>(i);
  i = 0;
  for (const Value* y : outputs) {
    (*y)->requires_grad = true;
    (*y)->node = id;
    (*y)->leaf = kNoNode;
    (*y)->output = static_cast<std::uint8_t>(i++);
  }
  node.output_count = static_cast<std::uint8_t>(i);
  return &node;
}

bool Tape::last_op_writes(TensorId tensor) const {
  const Op& op = graph_.ops.back();
  return among(graph_.outputs, op.first_output, tensor) ||
         among(graph_.updated, op.first_updated, tensor);
}

void Tape::take_back_last_op() {
  const Op op = graph_.ops.back();
  const OpId gone = last_op();
  std::vector<TensorId> used(graph_.inputs.begin() + op.first_input, graph_.inputs.end());
  used.insert(used.end(), graph_.held.begin() + op.first_held, graph_.held.end());
  ensure(graph_.updated.size() == op.first_updated, "an op that did not run has updated nothing");
  for (std::size_t i = graph_.outputs.size(); i-- > op.first_output;) {
    ensure(index(graph_.outputs[i]) + 1 == graph_.tensors.size(), "what it made came last");
    ensure(storage_owners_.back() == 0, "nobody holds what an op that did not run has made");
    graph_.tensors.pop_back();
    storage_owners_.pop_back();
    last_touch_.pop_back();
  }
  graph_.inputs.resize(op.first_input);
  graph_.held.resize(op.first_held);
  graph_.outputs.resize(op.first_output);
  graph_.ops.pop_back();
  for (const TensorId t : used) {
    const std::uint32_t storage = index(t);
    if (storage >= graph_.tensors.size()) continue;  // its own
    const bool touched =
        last_op_writes(t) || among(graph_.inputs, graph_.ops.back().first_input, t);
    last_touch_[storage] = touched ? index(last_op()) : kNoIndex;
    if (graph_.tensors[storage].last_use != gone) continue;
    graph_.tensors[storage].last_use = last_op();
    if (!touched) graph_.held.push_back(t);
  }
  for (auto save = graph_.saves.rbegin(); save != graph_.saves.rend() && save->op == gone; ++save) {
    save->op = last_op();
  }
}

void Tape::save(Node& node, const Value& x) {
  ensure(node.saved_count < kMostSaved, "a node saves at most six tensors");
  const std::uint8_t slot = node.saved_count++;
  if (!x) return;
  const bool only_noted = hooks != nullptr && !hooks->replay;
  if (!only_noted) {
    graph_.tensors[x->storage].saved = true;
    graph_.saves.push_back({TensorId{x->storage}, intern(node.rule->name), last_op()});
  }
  if (hooks != nullptr) {
    if (hooks->replay) {
      hooks->caught.push_back(alias_of(x, x.layout()));
      if (hooks->caught.size() == hooks->stop_after) stop_replay(x);
    } else {
      if (node.checkpoint == kNoNode) ++checkpoints_[hooks->checkpoint].nodes_waiting;
      node.recompute = hooks->checkpoint;
      node.checkpoint = hooks->checkpoint;
      hooks->places.push_back({static_cast<std::uint32_t>(nodes_.size()) - 1, slot});
      ensure(&node == &nodes_.back(), "a node saves its tensors right after it was made");
    }
    return;
  }
  // A node that saves its own output keeps the storage, not the record: no cycle, as the framework.
  const bool own = x->node != kNoNode && &node == &nodes_[x->node];
  node.saved[slot] = own ? alias_of(x, x.layout()) : x;
  if (own) node.saved[slot]->requires_grad = false;
}

// What a cached op reads is saved before its results are taken: they stay in the cache.
void Tape::stop_replay(const Value& caught) {
  if (cached_ != Cached::kTaken) throw StopRecomputation{last_op_writes(TensorId{caught->storage})};
  const bool own = std::ranges::any_of(
      taken_, [&](const Value& taken) { return taken->storage == caught->storage; });
  if (!own) hooks->cache->put_back(std::move(taken_));
  throw StopRecomputation{};
}

StepGraph Tape::finish() {
  ensure(!graph_.ops.empty(), "a step has operations");
  Op sentinel;
  sentinel.first_input = static_cast<std::uint32_t>(graph_.inputs.size());
  sentinel.first_held = static_cast<std::uint32_t>(graph_.held.size());
  sentinel.first_output = static_cast<std::uint32_t>(graph_.outputs.size());
  sentinel.first_updated = static_cast<std::uint32_t>(graph_.updated.size());
  graph_.ops.push_back(sentinel);
  spent_ = true;
  return std::move(graph_);
}

}  // namespace tidemark
