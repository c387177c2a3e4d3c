#include "graph/layout.hpp"

#include <algorithm>

#include "hardware/ensure.hpp"

namespace tidemark {

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

}  // namespace

Layout::Layout(const Shape& contiguous_shape) : shape(contiguous_shape) {
  std::int64_t step = 1;
  for (int i = shape.rank - 1; i >= 0; --i) {
    stride[at(i)] = step;
    step *= std::max<std::int64_t>(shape.at(i), 1);
  }
}

bool Layout::contiguous() const {
  std::int64_t step = 1;
  for (int i = shape.rank - 1; i >= 0; --i) {
    if (shape.at(i) == 1) continue;
    if (stride[at(i)] != step) return false;
    step *= shape.at(i);
  }
  return true;
}

bool Layout::dense() const {
  // Take dimensions by the stride that they must have; at most five, so a scan does.
  int left = 0;
  for (int i = 0; i < shape.rank; ++i) left += shape.at(i) != 1 ? 1 : 0;
  std::int64_t step = 1;
  for (; left > 0; --left) {
    int found = -1;
    for (int i = 0; i < shape.rank && found < 0; ++i) {
      if (shape.at(i) != 1 && stride[at(i)] == step) found = i;
    }
    if (found < 0) return false;
    step *= shape.at(found);
  }
  return true;
}

std::int64_t Layout::distinct_elements() const {
  std::int64_t n = 1;
  for (int i = 0; i < shape.rank; ++i) {
    if (stride[at(i)] != 0) n *= shape.at(i);
  }
  return n;
}

bool lie_alike(const Layout& a, const Layout& b) {
  if (!(a.shape == b.shape)) return false;
  for (int i = 0; i < a.shape.rank; ++i) {
    if (a.size(i) > 1 && a.stride_at(i) != b.stride_at(i)) return false;
  }
  return true;
}

Layout transposed(const Layout& layout, int a, int b) {
  Layout out = layout;
  const std::size_t x = at(a < 0 ? layout.shape.rank + a : a);
  const std::size_t y = at(b < 0 ? layout.shape.rank + b : b);
  std::swap(out.shape.size[x], out.shape.size[y]);
  std::swap(out.stride[x], out.stride[y]);
  return out;
}

Layout permuted(const Layout& layout, std::initializer_list<int> order) {
  Layout out = layout;
  std::size_t i = 0;
  for (const int from : order) {
    out.shape.size[i] = layout.shape.size[at(from)];
    out.stride[i++] = layout.stride[at(from)];
  }
  return out;
}

Layout expanded(const Layout& layout, const Shape& shape) {
  Layout out;
  out.shape = shape;
  const int extra = shape.rank - layout.shape.rank;
  for (int i = 0; i < shape.rank; ++i) {
    const int from = i - extra;
    const bool repeats = from < 0 || (layout.shape.at(from) == 1 && shape.at(i) != 1);
    out.stride[at(i)] = repeats ? 0 : layout.stride[at(from)];
  }
  return out;
}

Layout narrowed(const Layout& layout, int dim, std::int64_t length) {
  Layout out = layout;
  out.shape.size[at(dim < 0 ? layout.shape.rank + dim : dim)] = length;
  return out;
}

Layout unsqueezed(const Layout& layout, int dim) {
  Layout out = layout;
  ensure(layout.shape.rank < Shape::kMost, "a tensor has at most five dimensions");
  for (int i = layout.shape.rank; i > dim; --i) {
    out.shape.size[at(i)] = layout.shape.size[at(i - 1)];
    out.stride[at(i)] = layout.stride[at(i - 1)];
  }
  out.stride[at(dim)] =
      dim < layout.shape.rank ? layout.shape.size[at(dim)] * layout.stride[at(dim)] : 1;
  out.shape.size[at(dim)] = 1;
  ++out.shape.rank;
  return out;
}

Layout squeezed(const Layout& layout, int dim) {
  Layout out = layout;
  for (int i = dim; i + 1 < layout.shape.rank; ++i) {
    out.shape.size[at(i)] = layout.shape.size[at(i + 1)];
    out.stride[at(i)] = layout.stride[at(i + 1)];
  }
  --out.shape.rank;
  out.shape.size[at(out.shape.rank)] = 0;
  out.stride[at(out.shape.rank)] = 0;
  return out;
}

std::optional<Layout> viewed(const Layout& layout, const Shape& shape) {
  if (layout.shape == shape) return layout;
  if (layout.shape.rank == 0 || layout.shape.elements() == 0) return Layout(shape);
  Layout out;
  out.shape = shape;
  int view = shape.rank - 1;
  std::int64_t chunk_stride = layout.stride[at(layout.shape.rank - 1)];
  std::int64_t tensor_elements = 1;
  std::int64_t view_elements = 1;
  for (int i = layout.shape.rank - 1; i >= 0; --i) {
    tensor_elements *= layout.shape.at(i);
    // The end of a chunk of memory that is contiguous in steps of chunk_stride.
    if (i == 0 || (layout.shape.at(i - 1) != 1 &&
                   layout.stride[at(i - 1)] != tensor_elements * chunk_stride)) {
      while (view >= 0 && (view_elements < tensor_elements || shape.at(view) == 1)) {
        out.stride[at(view)] = view_elements * chunk_stride;
        view_elements *= shape.at(view);
        --view;
      }
      if (view_elements != tensor_elements) return std::nullopt;
      if (i > 0) {
        chunk_stride = layout.stride[at(i - 1)];
        tensor_elements = 1;
        view_elements = 1;
      }
    }
  }
  if (view != -1) return std::nullopt;
  return out;
}

Layout preserved(const Layout& layout) {
  if (layout.dense()) return layout;
  const Layout* const operand = &layout;
  return elementwise_layout({&operand, 1});
}

Shape broadcast(const Shape& a, const Shape& b) {
  Shape out;
  out.rank = std::max(a.rank, b.rank);
  for (int i = 1; i <= out.rank; ++i) {
    const std::int64_t x = i <= a.rank ? a.at(-i) : 1;
    const std::int64_t y = i <= b.rank ? b.at(-i) : 1;
    ensure(x == y || x == 1 || y == 1, "operands of an elementwise op broadcast");
    out.size[at(out.rank - i)] = x == 1 ? y : x;
  }
  return out;
}

Layout elementwise_layout(std::span<const Layout* const> operands) {
  Shape shape = operands[0]->shape;
  bool same_shape = true;
  for (const Layout* operand : operands) {
    same_shape = same_shape && operand->shape == shape;
    shape = broadcast(shape, operand->shape);
  }
  const auto every = [&](auto holds) {
    return std::all_of(operands.begin(), operands.end(), holds);
  };
  if (same_shape) {
    if (every([](const Layout* o) { return o->contiguous(); })) return Layout(shape);
    if (operands[0]->dense() &&
        every([&](const Layout* o) { return o->stride == operands[0]->stride; })) {
      return *operands[0];
    }
  }
  std::array<std::array<std::int64_t, Shape::kMost>, 4> strides{};
  for (std::size_t o = 0; o < operands.size(); ++o) {
    strides[o] = expanded(*operands[o], shape).stride;
  }
  // 1: dimension a comes after b (is further out), -1: before, 0: undecided.
  const auto order = [&](int a, int b) {
    for (std::size_t o = 0; o < operands.size(); ++o) {
      const std::int64_t x = strides[o][at(a)];
      const std::int64_t y = strides[o][at(b)];
      if (x == 0 || y == 0) continue;
      if (x < y) return -1;
      if (x > y) return 1;
      if (shape.at(a) > shape.at(b)) return 1;
    }
    return 0;
  };
  std::array<int, Shape::kMost> perm{};  // innermost first
  for (int i = 0; i < shape.rank; ++i) perm[at(i)] = shape.rank - 1 - i;
  for (int i = 1; i < shape.rank; ++i) {
    int moving = i;
    for (int other = i - 1; other >= 0; --other) {
      const int comparison = order(perm[at(other)], perm[at(moving)]);
      if (comparison > 0) {
        std::swap(perm[at(other)], perm[at(moving)]);
        moving = other;
      } else if (comparison < 0) {
        break;
      }
    }
  }
  Layout out;
  out.shape = shape;
  std::int64_t step = 1;
  for (int i = 0; i < shape.rank; ++i) {
    out.stride[at(perm[at(i)])] = step;
    step *= shape.at(perm[at(i)]);
  }
  return out;
}

}  // namespace tidemark
