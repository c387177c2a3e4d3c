#pragma once
// What is wrong with a command line, in words that name what was meant.

#include <string>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace tidemark::tools {

// One line without "error: ". An unknown command, topic or option comes with the nearest known
// ones.
std::string usage_fault(const CLI::App& app, const CLI::ParseError& error);

}  // namespace tidemark::tools
