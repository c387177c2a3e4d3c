#pragma once
// The sizes of a tensor, outermost first, at most five.

#include <array>
#include <cstdint>
#include <initializer_list>

namespace tidemark {

struct Shape {
  static constexpr int kMost = 5;
  std::array<std::int64_t, kMost> size{};
  std::int8_t rank = 0;

  constexpr Shape() = default;
  constexpr Shape(std::initializer_list<std::int64_t> sizes) {
    for (const std::int64_t n : sizes) size[static_cast<std::size_t>(rank++)] = n;
  }
  // Counts from the end when negative, as frameworks do: at(-1) is the innermost size.
  constexpr std::int64_t at(int i) const {
    return size[static_cast<std::size_t>(i < 0 ? rank + i : i)];
  }
  constexpr std::int64_t elements() const {
    std::int64_t n = 1;
    for (int i = 0; i < rank; ++i) n *= size[static_cast<std::size_t>(i)];
    return n;
  }
  friend constexpr bool operator==(const Shape&, const Shape&) = default;
};

}  // namespace tidemark
