#include <array>

#include "tools/commands/command.hpp"

namespace tidemark::tools {

AddCommand add_run, add_compare, add_sensitivity, add_ledger, add_list, add_validate,
    add_validate_model, add_calibrate, add_schema, add_show, add_init, add_plot, add_completion,
    add_man, add_explain;

namespace {

// In the order of the help text.
constexpr auto kCommands = std::to_array<AddCommand*>({
    add_run,
    add_compare,
    add_plot,
    add_sensitivity,
    add_ledger,
    add_explain,
    add_validate,
    add_init,
    add_list,
    add_show,
    add_validate_model,
    add_calibrate,
    add_schema,
    add_completion,
    add_man,
});

}  // namespace

std::span<AddCommand* const> commands() { return kCommands; }

}  // namespace tidemark::tools
