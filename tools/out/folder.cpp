#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <set>
#include <system_error>

#include "hardware/quantity.hpp"
#include "scenarios/suggest.hpp"
#include "tools/atomic_file.hpp"
#include "tools/out/out.hpp"
#include "tools/output.hpp"
#include "tools/user_error.hpp"

namespace tidemark::tools {
namespace {

constexpr std::size_t kLongestStem = 80;

std::string path_in(const std::string& folder, std::string_view name) {
  return (std::filesystem::path(folder) / name).string();
}

std::vector<const OutFile*> wanted(const OutArguments& arguments) {
  std::vector<const OutFile*> files;
  std::vector<std::string_view> known;
  for (const OutFile& file : out_files()) {
    known.push_back(file.name);
    const bool named = std::ranges::find(arguments.files, file.name) != arguments.files.end();
    if (arguments.files.empty() || named) files.push_back(&file);
  }
  for (const std::string& name : arguments.files) {
    if (std::ranges::find(known, name) != known.end()) continue;
    throw UserError(fmt::format("--out-files: unknown file '{}': {}", name,
                                scenarios::suggestion(name, known)));
  }
  return files;
}

// Whether the input may be a run's file of that kind: runs are not known yet.
bool may_be_of_a_run(const std::string& input, const std::string& folder, const OutFile& file) {
  std::error_code none;
  const std::filesystem::path path(input);
  const std::filesystem::path parent = path.has_parent_path() ? path.parent_path() : ".";
  return path.filename().string().ends_with("." + std::string(file.name)) &&
         std::filesystem::equivalent(parent, folder, none) && !none;
}

std::string stem_of(std::string_view label) {
  std::string stem;
  for (const char c : label) {
    const bool plain = ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z') || ('0' <= c && c <= '9') ||
                       (c == '.' && !stem.empty());
    if (plain) {
      stem += c;
    } else if (!stem.empty() && stem.back() != '-') {
      stem += '-';
    }
  }
  stem.resize(std::min(stem.size(), kLongestStem));
  while (!stem.empty() && (stem.back() == '-' || stem.back() == '.')) stem.pop_back();
  return stem.empty() ? "run" : stem;
}

std::string without_case(std::string text) {
  for (char& c : text) {
    if ('A' <= c && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

}  // namespace

std::vector<std::string> file_stems(std::span<const OutRun> runs) {
  std::vector<std::string> stems;
  std::set<std::string> taken;
  for (const OutRun& run : runs) {
    const std::string stem = stem_of(run.label);
    std::string free = stem;
    for (int n = 2; !taken.insert(without_case(free)).second; ++n)
      free = fmt::format("{}-{}", stem, n);
    stems.push_back(std::move(free));
  }
  return stems;
}

void check_out_folder(const OutArguments& arguments, std::span<const std::string> inputs) {
  const std::string& folder = arguments.folder;
  std::error_code none;
  if (std::filesystem::exists(folder, none) && !std::filesystem::is_directory(folder, none)) {
    throw UserError(fmt::format("--out: '{}' is not a folder", folder));
  }
  for (const OutFile* file : wanted(arguments)) {
    const std::string_view reason = file->why_not != nullptr ? file->why_not() : std::string_view();
    if (!reason.empty()) {
      throw UserError(fmt::format("--out: cannot write {}: {}; --out-files names those to write",
                                  file->name, reason));
    }
    if (file->write != nullptr) {
      refuse_overwriting("--out", path_in(folder, file->name), inputs);
      continue;
    }
    for (const std::string& input : inputs) {
      if (!may_be_of_a_run(input, folder, *file)) continue;
      throw UserError("--out: '" + input + "' is what the command reads");
    }
  }
}

std::string write_out_folder(const OutArguments& arguments, const OutInput& input) {
  const std::string& folder = arguments.folder;
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw UserError(fmt::format("cannot make folder '{}': {}", folder, error.message()));
  const std::vector<std::string> stems = file_stems(input.runs);
  std::size_t files = 0;
  Bytes bytes;
  const auto write = [&](std::string_view name, const std::string& text) {
    write_file(path_in(folder, name), text);
    ++files;
    bytes += Bytes(static_cast<std::int64_t>(text.size()));
  };
  std::string left_out;
  for (const OutFile* file : wanted(arguments)) {
    if (file->write != nullptr) write(file->name, file->write(input));
    if (file->write_run == nullptr) continue;
    bool all = true;
    for (std::size_t i = 0; i < stems.size(); ++i) {
      if (!arguments.files.empty() || input.runs[i].own_files) {
        write(fmt::format("{}.{}", stems[i], file->name), file->write_run(input.runs[i]));
      } else {
        all = false;
      }
    }
    if (!all) left_out += fmt::format("{}{}", left_out.empty() ? "" : ",", file->name);
  }
  std::string text = fmt::format("wrote {} file{} into {}, {}", files, files == 1 ? "" : "s",
                                 folder, format_bytes(bytes));
  if (left_out.empty()) return text;
  const auto with = std::ranges::count_if(input.runs, &OutRun::own_files);
  return text + fmt::format(
                    "; {} of {} on the front alone (of equal ones once): --out-files {} writes "
                    "them of all {}",
                    left_out, with, left_out, input.runs.size());
}

void write_and_tell(const OutArguments& arguments, const OutInput& input) {
  const std::string text = write_out_folder(arguments, input) + "\n";
  std::fwrite(text.data(), 1, text.size(), stderr);
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
