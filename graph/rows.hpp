#pragma once
// Collects (row, value) pairs and turns them into CSR: row i is values[first[i]] up to, not
// including, values[first[i + 1]]. Rows may be filled in any order; it is fastest when they come in
// ascending order. Within a row, values keep the order in which they were added; repeated ones are
// dropped.

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "graph/ids.hpp"

namespace tidemark {

template <class Id>
struct Rows {
  std::vector<std::uint32_t> first;  // one more entry than rows
  std::vector<Id> values;
};

template <class Id>
class RowCollector {
 public:
  void reserve(std::size_t pairs) {
    rows_.reserve(pairs);
    values_.reserve(pairs);
  }

  void add(std::uint32_t row, Id value) {
    ascending_ = ascending_ && (rows_.empty() || rows_.back() <= row);
    rows_.push_back(row);
    values_.push_back(value);
  }

  // Every row is below `row_count` and every value's index below `value_count`.
  Rows<Id> finish(std::uint32_t row_count, std::uint32_t value_count) && {
    Rows<Id> result;
    result.first.assign(std::size_t{row_count} + 1, 0);
    for (const std::uint32_t row : rows_) ++result.first[row + 1];
    for (std::uint32_t row = 0; row < row_count; ++row) result.first[row + 1] += result.first[row];
    result.values = ascending_ ? std::move(values_) : in_row_order(result.first);
    drop_repeated(result, value_count);
    return result;
  }

 private:
  std::vector<Id> in_row_order(std::vector<std::uint32_t> next) const {
    std::vector<Id> sorted(values_.size());
    for (std::size_t i = 0; i < values_.size(); ++i) sorted[next[rows_[i]]++] = values_[i];
    return sorted;
  }

  static void drop_repeated(Rows<Id>& rows, std::uint32_t value_count) {
    std::vector<std::uint32_t> seen_in(value_count, kNoIndex);  // the last row that had the value
    std::uint32_t kept = 0;
    std::uint32_t begin = 0;
    for (std::uint32_t row = 0; row + 1 < rows.first.size(); ++row) {
      const std::uint32_t end = rows.first[row + 1];
      for (std::uint32_t i = begin; i < end; ++i) {
        const Id value = rows.values[i];
        if (std::exchange(seen_in[index(value)], row) != row) rows.values[kept++] = value;
      }
      begin = end;
      rows.first[row + 1] = kept;
    }
    rows.values.resize(kept);
  }

  std::vector<std::uint32_t> rows_;
  std::vector<Id> values_;
  bool ascending_ = true;
};

}  // namespace tidemark
