#pragma once
// JSON Schemas (draft 7) of what goes in and what comes out, for editors and for programs. Made
// from the tables that the loader and the formats use; tools/schema/*.schema.json are these texts.

#include <string>

namespace tidemark::tools {

// Raised when a name of the result JSON changes its meaning or goes away, not when one is added.
inline constexpr int kResultVersion = 1;

// Of a scenario file, read as YAML 1.2. What a schema cannot say is left to the loader
// (tests/bad/README.md).
std::string scenario_schema();

// Of what `tidemark run --json` writes.
std::string result_schema();

}  // namespace tidemark::tools
