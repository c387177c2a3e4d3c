#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <array>
#include <string>

#include "tools/commands/command.hpp"
#include "tools/output.hpp"
#include "tools/schema/schema.hpp"

namespace tidemark::tools {

AddCommand add_schema;

namespace {

struct SchemaTopic {
  const char* name;
  const char* summary;
  std::string (*text)();
};

constexpr auto kSchemas = std::to_array<SchemaTopic>({
    {"scenario", "of scenario files, for editors", scenario_schema},
    {"result", "of what `run --json` writes", result_schema},
});

}  // namespace

void add_schema(CLI::App& app, Action& action) {
  CLI::App& command = *app.add_subcommand("schema", "print a JSON Schema");
  command.require_subcommand(1);
  for (const SchemaTopic& topic : kSchemas) {
    CLI::App& printed = *command.add_subcommand(topic.name, topic.summary);
    printed.callback([&topic, &action] {
      action = [&topic] {
        write_output(std::string(kStandardOutput), topic.text());
        return ExitStatus::kOk;
      };
    });
  }
  command.footer(
      "Examples:\n"
      "  tidemark schema scenario > scenario.schema.json\n"
      "  tidemark schema result > result.schema.json\n"
      "An editor with yaml-language-server completes and checks a scenario that begins with\n"
      "  # yaml-language-server: $schema=scenario.schema.json");
}

}  // namespace tidemark::tools
