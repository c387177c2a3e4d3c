#pragma once
// Data files that are compiled into the program (tools/cmake/Embed.cmake writes the definitions).

#include <span>
#include <string_view>

namespace tidemark {

struct EmbeddedFile {
  std::string_view name;  // base name without extension: "a100-80gb-sxm"
  std::string_view text;  // all bytes of the file
};

// hardware/devices/*.yaml, sorted by name.
std::span<const EmbeddedFile> device_files();

}  // namespace tidemark
