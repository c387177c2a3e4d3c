#pragma once
// The scores of dtr.hpp, by name.

#include <array>
#include <string_view>

namespace tidemark::remat {

enum class DtrScore : char { kDtr, kDtrEq, kLocal, kLru, kSize, kMsps };

struct DtrScoreName {
  DtrScore score;
  std::string_view name;
};
inline constexpr std::array kDtrScores = {
    DtrScoreName{DtrScore::kDtr, "h_DTR"},   DtrScoreName{DtrScore::kDtrEq, "h_DTR-eq"},
    DtrScoreName{DtrScore::kLocal, "local"}, DtrScoreName{DtrScore::kLru, "LRU"},
    DtrScoreName{DtrScore::kSize, "size"},   DtrScoreName{DtrScore::kMsps, "MSPS"}};

}  // namespace tidemark::remat
