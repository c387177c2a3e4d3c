#pragma once
// A tensor as the training script and the autograd graph hold it: a counted reference to a record
// of layout, dtype and autograd state over a storage. When the last reference to a storage goes,
// the storage dies right after the op that ran last; that is how lifetimes come out of lowering.

#include <cstdint>
#include <utility>

#include "graph/dtype.hpp"
#include "graph/layout.hpp"

namespace tidemark {

class Tape;

inline constexpr std::uint32_t kNoNode = 0xffffffffu;

struct TensorRecord;

class Value {
 public:
  Value() = default;
  explicit Value(TensorRecord* record);  // takes a new reference
  Value(const Value& other);
  Value(Value&& other) noexcept : record_(std::exchange(other.record_, nullptr)) {}
  Value& operator=(Value other) noexcept {
    std::swap(record_, other.record_);
    return *this;
  }
  ~Value() { reset(); }

  void reset();
  explicit operator bool() const { return record_ != nullptr; }
  TensorRecord& operator*() const { return *record_; }
  TensorRecord* operator->() const { return record_; }

  const Layout& layout() const;
  const Shape& shape() const;
  std::int64_t size(int i) const { return shape().at(i); }
  DType dtype() const;
  Tape& tape() const;

 private:
  TensorRecord* record_ = nullptr;
};

struct TensorRecord {
  Tape* tape = nullptr;
  std::uint32_t references = 0;
  std::uint32_t storage = 0;  // row of StepGraph::tensors
  Layout layout;
  DType dtype{};
  bool requires_grad = false;
  std::uint32_t node = kNoNode;  // that made it, in the autograd graph
  std::uint8_t output = 0;       // which of the node's outputs it is
  std::uint32_t leaf = kNoNode;  // row of Tape::leaves when gradients accumulate here
  Value base;                    // the tensor that this is a view of, if it is one
  TensorRecord* next_free = nullptr;
};

inline const Layout& Value::layout() const { return record_->layout; }
inline const Shape& Value::shape() const { return record_->layout.shape; }
inline DType Value::dtype() const { return record_->dtype; }
inline Tape& Value::tape() const { return *record_->tape; }
inline Value::Value(TensorRecord* record) : record_(record) { ++record_->references; }
inline Value::Value(const Value& other) : record_(other.record_) {
  if (record_ != nullptr) ++record_->references;
}

void release(TensorRecord* record);  // the last reference has gone

inline void Value::reset() {
  if (record_ == nullptr) return;
  TensorRecord* const record = std::exchange(record_, nullptr);
  if (--record->references == 0) release(record);
}

}  // namespace tidemark
