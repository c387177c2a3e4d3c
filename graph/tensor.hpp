#pragma once

#include "graph/category.hpp"
#include "graph/dtype.hpp"
#include "graph/ids.hpp"
#include "graph/shape.hpp"
#include "hardware/units.hpp"

namespace tidemark {

// A storage. Views share their base's storage and own no bytes, so they are not listed.
struct Tensor {
  Bytes bytes;
  Shape shape;  // of the tensor that was allocated; views may see it otherwise
  DType dtype{};
  Category category{};
  std::int16_t layer = -1;  // block that made it; -1: outside the blocks
  NameId name{kNoIndex};
  OpId producer = kNoOp;  // kNoOp: there before the step
  OpId last_use = kNoOp;  // last op during which it is alive; kNoOp: there after the step
  bool saved = false;     // an autograd node keeps it from forward (or recompute) to backward

  bool initial() const { return producer == kNoOp; }
  bool persistent() const { return last_use == kNoOp; }
};

}  // namespace tidemark
