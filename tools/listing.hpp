#pragma once
// The names that a scenario may use, as rows: what `tidemark list` prints, and writes as JSON and
// CSV.

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark::tools {

struct ListedOption {
  std::string name;
  std::string text;
  std::vector<std::string> choices;
  std::string preset;  // as written; empty: `text` says what holds
};

struct ListedRow {
  std::string kind;  // model, gpu, host, ssd, pcie, policy, preset, allocator, section
  std::string name;
  std::string description;  // of a preset: two lines
  std::string source;       // of a preset: the paper
  std::string sets;         // of a preset: the keys that it sets
  std::vector<ListedOption> options;
};

struct Topic {
  const char* name;
  const char* summary;
  const char* names;         // title of their column in a table
  const char* descriptions;  // likewise
  std::vector<ListedRow> (*rows)();
};

std::span<const Topic> topics();

// Rows of some topics as they stand in tables.
std::vector<ListedRow> policy_rows();
std::vector<ListedRow> preset_rows();

// Of one topic an object; of all of them an array of such objects.
std::string listing_json(std::span<const Topic> listed);
// A line a row and a line an option of it.
std::string listing_csv(std::span<const Topic> listed);

}  // namespace tidemark::tools
