#pragma once
// `--out FOLDER`: what a command found, as files for people and other tools. The contract of such a
// file: the runs in, with everything that was played, text out. It reads nothing else, opens no
// file, and gives the same bytes for the same runs. A new one is a source file in this folder and a
// row in table.cpp.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hardware/units.hpp"
#include "scenarios/scenario.hpp"
#include "tools/evaluate.hpp"
#include "tools/report.hpp"

namespace tidemark::tools {

// One run; what it points to outlives the writing.
struct OutRun {
  std::string label;  // strategy and point of the sweep, or policy: unlike those of the other runs
  const scenarios::RunSpec* spec = nullptr;
  const Report* report = nullptr;
  const KeptSteps* steps = nullptr;
  std::optional<Bytes> budget;   // of HBM, of a policy that plans for one
  std::optional<SimTime> bound;  // of recomputation at its peak (tools/comparison.hpp)
  bool own_files = true;  // false: files of the run alone only where they are asked for by name
};

struct OutInput {
  std::string title;
  std::vector<OutRun> runs;
};

using WriteAll = std::string(const OutInput& input);
using WriteRun = std::string(const OutRun& run);

// Of all runs together or of each run: one of the two is set.
struct OutFile {
  std::string_view name;  // in the folder; of each run with the run's name and a point before it
  std::string_view summary;
  WriteAll* write = nullptr;
  WriteRun* write_run = nullptr;
  // Why this build cannot write it; empty: it can. Null: every build can.
  std::string_view (*why_not)() = nullptr;
};

struct OutArguments {
  std::string folder;              // empty: nothing is to be written
  std::vector<std::string> files;  // names of OutFiles; empty: all, but see OutRun::own_files
};

// In the order in which they are written.
std::span<const OutFile> out_files();

// Before the work: throws UserError where a file is unknown or cannot be written by this build,
// where the folder is a file, and where one of its files is among the `inputs`.
void check_out_folder(const OutArguments& arguments, std::span<const std::string> inputs);

// Makes the folder where there is none; each file is whole or not there. Returns a sentence on what
// was written, and on what was left out and why. Throws UserError.
std::string write_out_folder(const OutArguments& arguments, const OutInput& input);

// The same, with the sentence on standard error.
void write_and_tell(const OutArguments& arguments, const OutInput& input);

// What names of files begin with, one for each label: its letters, digits and dots in ASCII, with
// "-" for what is between them. No two are the same, even where a file system ignores case.
std::vector<std::string> file_stems(std::span<const OutRun> runs);

// "checkpoint every block (training.micro_batch=4)"; with `scenario` in front where it is not
// empty.
std::string label_of(const scenarios::RunSpec& run, std::string_view scenario);

}  // namespace tidemark::tools
