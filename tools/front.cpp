#include "tools/front.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace tidemark::tools {
namespace {

bool beats(const FrontPoint& a, const FrontPoint& b) {
  return a.peak <= b.peak && a.time <= b.time && (a.peak < b.peak || a.time < b.time);
}

}  // namespace

std::vector<bool> front_of(std::span<const FrontPoint> points) {
  const auto usable = [](const FrontPoint& point) { return point.met && point.fits; };
  const bool any_fits = std::ranges::any_of(points, usable);
  const auto counts = [&](const FrontPoint& point) {
    return point.met && (point.fits || !any_fits);
  };
  std::vector<bool> front;
  for (const FrontPoint& point : points) {
    front.push_back(counts(point) && std::ranges::none_of(points, [&](const FrontPoint& other) {
                      return counts(other) && beats(other, point);
                    }));
  }
  return front;
}

std::string work_of(std::span<const std::pair<std::string, std::string>> point) {
  static constexpr auto kWays =
      std::to_array<std::string_view>({"allocator", "checkpoint", "kernels", "offload"});
  std::string work;
  for (const auto& [key, value] : point) {
    const std::string_view section = std::string_view(key).substr(0, key.find('.'));
    if (std::ranges::find(kWays, section) != kWays.end()) continue;
    work += (work.empty() ? "" : ", ") + key.substr(key.rfind('.') + 1) + " " + value;
  }
  return work;
}

}  // namespace tidemark::tools
