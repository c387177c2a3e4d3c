// report.html: the page of web/ with the styles, the scripts, the library and the data inside it.

#include <array>
#include <span>
#include <string>
#include <string_view>

#include "hardware/embedded.hpp"
#include "hardware/ensure.hpp"
#include "tools/out/out.hpp"
#include "tools/report_html/data.hpp"
#include "tools/report_html/library.hpp"

namespace tidemark {

// web/*: page.html, style.css and the scripts, by their names without extension.
std::span<const EmbeddedFile> report_files();

}  // namespace tidemark

namespace tidemark::tools {

std::string report_html(const OutInput& input);
std::string_view why_no_report_html();

namespace {

// A script uses what stands in those before it.
constexpr auto kScripts = std::to_array<std::string_view>(
    {"packed", "step", "format", "theme", "shapes", "memory", "cursor", "strategies", "overlay",
     "peak", "lifetimes", "layers", "limits", "start"});

std::string_view file(std::string_view name) {
  for (const EmbeddedFile& embedded : report_files()) {
    if (embedded.name == name) return embedded.text;
  }
  throw InternalError("a part of the report should have been compiled in");
}

std::string scripts() {
  std::string all = "(() => {\n\"use strict\";\n";
  for (const std::string_view name : kScripts) all += file(name);
  return all + "})();\n";
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

// Replaces each "{{name}}" of the page; what is put in is not looked at again.
template <class Find>
std::string filled(std::string_view page, Find find) {
  std::string out;
  for (;;) {
    const std::size_t begin = page.find("{{");
    out += page.substr(0, begin);
    if (begin == std::string_view::npos) return out;
    const std::size_t end = page.find("}}", begin);
    out += find(page.substr(begin + 2, end - begin - 2));
    page.remove_prefix(end + 2);
  }
}

}  // namespace

std::string_view why_no_report_html() {
  return echarts_script().empty()
             ? "this build is without ECharts, which CMake could not fetch from the npm registry: "
               "configure again with a network, or with -DTIDEMARK_ECHARTS=TARBALL"
             : "";
}

std::string report_html(const OutInput& input) {
  return filled(file("page"), [&](std::string_view name) -> std::string {
    if (name == "title") return escaped(input.title);
    if (name == "style") return std::string(file("style"));
    if (name == "echarts") return std::string(echarts_script());
    if (name == "license") return escaped(echarts_license());
    if (name == "notice") return escaped(echarts_notice());
    if (name == "data") return report_data(input);
    if (name == "scripts") return scripts();
    throw InternalError("the page of the report should ask for what there is");
  });
}

}  // namespace tidemark::tools
