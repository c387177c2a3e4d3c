#pragma once
// Sizes and strides of a tensor over its storage, with the framework's rules for views and for the
// layout of results (aten/src/ATen/TensorUtils.cpp computeStride; TensorIterator.cpp
// reorder_dimensions, PyTorch 1.13 and 2.x). They decide whether a reshape copies.

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>

#include "graph/shape.hpp"

namespace tidemark {

struct Layout {
  Shape shape;
  std::array<std::int64_t, Shape::kMost> stride{};  // in elements

  Layout() = default;
  explicit Layout(const Shape& contiguous_shape);  // row-major

  std::int64_t size(int i) const { return shape.at(i); }
  std::int64_t stride_at(int i) const {
    return stride[static_cast<std::size_t>(i < 0 ? shape.rank + i : i)];
  }
  bool contiguous() const;
  bool dense() const;  // non-overlapping: some order of the dimensions is row-major
  // Elements that a kernel really reads: dimensions of stride 0 count once.
  std::int64_t distinct_elements() const;
};

// Whether both have the same sizes and, where those are above 1, the same strides.
bool lie_alike(const Layout& a, const Layout& b);

Layout transposed(const Layout& layout, int a, int b);
Layout permuted(const Layout& layout, std::initializer_list<int> order);
Layout expanded(const Layout& layout, const Shape& shape);
Layout narrowed(const Layout& layout, int dim, std::int64_t length);
Layout unsqueezed(const Layout& layout, int dim);
Layout squeezed(const Layout& layout, int dim);
// The same elements seen as `shape`, if strides allow it.
std::optional<Layout> viewed(const Layout& layout, const Shape& shape);
// Strides kept where the tensor is dense, else as an elementwise kernel would lay it out.
Layout preserved(const Layout& layout);

// Shape that operands broadcast to, and the layout that an elementwise kernel gives its result.
Shape broadcast(const Shape& a, const Shape& b);
Layout elementwise_layout(std::span<const Layout* const> operands);

}  // namespace tidemark
