#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "tools/atomic_file.hpp"
#include "tools/out/out.hpp"
#include "tools/output.hpp"
#include "tools/user_error.hpp"

namespace tidemark::tools {
namespace {

std::string path_in(const std::string& folder, std::string_view name) {
  return (std::filesystem::path(folder) / name).string();
}

}  // namespace

void check_out_folder(const std::string& folder, std::span<const std::string> inputs) {
  std::error_code none;
  if (std::filesystem::exists(folder, none) && !std::filesystem::is_directory(folder, none)) {
    throw UserError(fmt::format("--out: '{}' is not a folder", folder));
  }
  for (const OutFile& file : out_files()) {
    if (const std::string_view reason = file.why_not(); !reason.empty()) {
      throw UserError(fmt::format("--out: cannot write {}: {}", file.name, reason));
    }
    refuse_overwriting("--out", path_in(folder, file.name), inputs);
  }
}

void write_out_folder(const std::string& folder, const OutInput& input) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw UserError(fmt::format("cannot make folder '{}': {}", folder, error.message()));
  for (const OutFile& file : out_files()) {
    write_file(path_in(folder, file.name), file.write(input));
  }
}

std::string label_of(const scenarios::RunSpec& run, std::string_view scenario) {
  std::string label = scenario.empty() ? "" : fmt::format("{}: ", scenario);
  label += run.strategy;
  std::string point;
  for (const auto& [key, value] : run.point) {
    point += fmt::format("{}{}={}", point.empty() ? "" : ", ", key, value);
  }
  return point.empty() ? label : fmt::format("{} ({})", label, point);
}

}  // namespace tidemark::tools
