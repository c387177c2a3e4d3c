#include <array>

#include "tools/out/out.hpp"

namespace tidemark::tools {

std::string report_html(const OutInput& input);
std::string_view why_no_report_html();

namespace {

constexpr auto kOutFiles = std::to_array<OutFile>({
    {"report.html", "charts and tables for a browser, in one file", report_html,
     why_no_report_html},
});

}  // namespace

std::span<const OutFile> out_files() { return kOutFiles; }

}  // namespace tidemark::tools
