#include "tools/report_html/library.hpp"

// A megabyte of script takes a compiler seconds as an array, the assembler nothing as it is.
#ifdef TIDEMARK_ECHARTS_FOLDER
#define TIDEMARK_BYTES_OF(name, file)                                                 \
  asm(".pushsection .rodata\n.globl " #name "\n" #name                                \
      ":\n.incbin \"" TIDEMARK_ECHARTS_FOLDER file "\"\n.globl " #name "_end\n" #name \
      "_end:\n.byte 0\n.popsection\n");                                               \
  extern "C" __attribute__((visibility("hidden"))) const char name[], name##_end[]

TIDEMARK_BYTES_OF(tidemark_echarts_script, "/dist/echarts.min.js");
TIDEMARK_BYTES_OF(tidemark_echarts_license, "/LICENSE");
TIDEMARK_BYTES_OF(tidemark_echarts_notice, "/NOTICE");

namespace tidemark::tools {

std::string_view echarts_script() { return {tidemark_echarts_script, tidemark_echarts_script_end}; }
std::string_view echarts_license() {
  return {tidemark_echarts_license, tidemark_echarts_license_end};
}
std::string_view echarts_notice() { return {tidemark_echarts_notice, tidemark_echarts_notice_end}; }

}  // namespace tidemark::tools
#else
namespace tidemark::tools {

std::string_view echarts_script() { return {}; }
std::string_view echarts_license() { return {}; }
std::string_view echarts_notice() { return {}; }

}  // namespace tidemark::tools
#endif
