#include "tools/analysis/least_rate.hpp"

#include <algorithm>
#include <cmath>

namespace tidemark::tools {
namespace {

constexpr double kPrecision = 0.005;
constexpr std::int64_t kNothing = 1'000'000;  // a megabyte a second is as good as nothing

std::int64_t between(std::int64_t low, std::int64_t high) {
  const double middle = std::sqrt(static_cast<double>(low)) * std::sqrt(static_cast<double>(high));
  return std::clamp(static_cast<std::int64_t>(middle), low, high);
}

}  // namespace

bool as_good_as(SimTime time, SimTime best) {
  return seconds(time) <= (1 + kHidden) * seconds(best);
}

LeastRate least_rate(std::int64_t has, SimTime now, SimTime endless,
                     const std::function<SimTime(std::int64_t)>& time_at) {
  LeastRate enough{has, now};
  std::int64_t short_of = 0;  // not known yet
  while (!as_good_as(enough.time, endless)) {
    short_of = enough.rate;
    if (enough.rate > kEndlessRate / 2) {
      enough = {kEndlessRate, endless};
    } else {
      enough.rate *= 2;
      enough.time = time_at(enough.rate);
    }
  }
  while (short_of == 0) {
    const std::int64_t half = enough.rate / 2;
    if (half < kNothing) return {0, enough.time};
    const SimTime time = time_at(half);
    if (as_good_as(time, endless)) {
      enough = {half, time};
    } else {
      short_of = half;
    }
  }
  while (static_cast<double>(enough.rate) > (1 + kPrecision) * static_cast<double>(short_of)) {
    const std::int64_t middle = between(short_of, enough.rate);
    if (middle == short_of || middle == enough.rate) break;
    const SimTime time = time_at(middle);
    if (as_good_as(time, endless)) {
      enough = {middle, time};
    } else {
      short_of = middle;
    }
  }
  return enough;
}

}  // namespace tidemark::tools
