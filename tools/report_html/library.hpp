#pragma once
// Apache ECharts as it came from its package, compiled in.

#include <string_view>

namespace tidemark::tools {

// Empty: this build is without it.
std::string_view echarts_script();
std::string_view echarts_license();
std::string_view echarts_notice();

}  // namespace tidemark::tools
