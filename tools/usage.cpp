#include "tools/usage.hpp"

#include <fmt/format.h>
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <string_view>
#include <vector>

#include "hardware/decimal.hpp"
#include "scenarios/suggest.hpp"

namespace tidemark::tools {
namespace {

// The innermost command that was named.
const CLI::App& chosen(const CLI::App& app) {
  const CLI::App* last = &app;
  while (!last->get_subcommands().empty()) last = last->get_subcommands().front();
  return *last;
}

// Those that help speaks of.
std::vector<std::string> subcommands_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* each : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (!each->get_group().empty()) names.push_back(each->get_name());
  }
  return names;
}

std::vector<std::string> options_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::string suggested(std::string_view name, const std::vector<std::string>& known) {
  return scenarios::suggestion(name, std::vector<std::string_view>(known.begin(), known.end()));
}

}  // namespace

std::string usage_fault(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App& command = chosen(app);
  const bool top = &command == &app;
  const std::vector<std::string> below = subcommands_of(command);
  std::string extra;
  for (const std::string& each : app.remaining(true)) {
    if (extra.empty() && each != "--") extra = each;
  }
  if (extra.size() > 1 && extra.front() == '-') {
    extra = extra.substr(0, extra.find('='));
    return fmt::format("{} has no option {}: {}", top ? "tidemark" : command.get_name(),
                       in_quotes(extra), suggested(extra, options_of(command)));
  }
  if (below.empty() || !command.get_subcommands().empty()) return error.what();
  const std::string what = top ? "a command" : fmt::format("a topic of '{}'", command.get_name());
  if (!extra.empty()) {
    return fmt::format("{} is not {}: {}", in_quotes(extra), what, suggested(extra, below));
  }
  return fmt::format("{} is missing: {}", what, suggested("", below));
}

}  // namespace tidemark::tools
