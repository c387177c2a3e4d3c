#pragma once
// What is wrong with an input, and where. Diagnostics are collected while a scenario is read and
// thrown once, all together:
//
//   scenarios/llama.yaml:12:11: error: unknown policy 'sqroot'
//      12 |   policy: sqroot
//         |           ^~~~~~ did you mean 'sqrt'? known: none, full, every-n, sqrt

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace tidemark::scenarios {

// A text that marks point into: a file, an embedded catalogue file, or one --set option.
struct Source {
  std::string name;  // as the user wrote it: "scenarios/llama.yaml", "--set training.sequence=0"
  std::string text;  // empty: marks have no line
  int order = 0;     // diagnostics of lower sources come first
};

// A place. Lines and columns count from 1; line 0 means the source as a whole.
struct Mark {
  std::shared_ptr<const Source> source;
  int line = 0;
  int column = 0;
  int width = 1;       // characters to underline
  int alias_line = 0;  // where an alias (*name) brought the text in; 0: it stands where it is used
  int alias_column = 0;
};

struct Diagnostic {
  Diagnostic(Mark place, std::string what, std::string advice = {})
      : mark(std::move(place)), message(std::move(what)), hint(std::move(advice)) {}

  Mark mark;
  std::string message;
  std::string hint;                     // shown beside the caret; may be empty
  std::vector<std::string> strategies;  // whose runs show it; empty: any, or it stands in its text
};

// "file:line:column: error: message", the source line, the caret and the hint; no newline at the
// end.
std::string render(const Diagnostic& diagnostic);

// Bad input: what() renders all diagnostics, one below the other.
class ScenarioError : public std::runtime_error {
 public:
  // `left_out` diagnostics more were found than are listed.
  ScenarioError(std::vector<Diagnostic> diagnostics, std::size_t left_out);
  const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }

 private:
  std::vector<Diagnostic> diagnostics_;
};

// Collects diagnostics; the same message at the same place counts once.
class Diagnostics {
 public:
  static constexpr std::size_t kMost = 20;        // shown in one run
  static constexpr std::size_t kMostKept = 1000;  // faults beyond are not looked at

  void error(const Mark& mark, std::string message, std::string hint = {});
  // What is reported from here on concerns runs of this strategy.
  void begin_strategy(std::string name) { strategy_ = std::move(name); }
  // Names no strategy in the diagnostics for which `plain` holds.
  void leave_strategies_out(const std::function<bool(const Diagnostic&)>& plain);

  std::size_t size() const { return diagnostics_.size(); }
  bool full() const { return size() >= kMost; }
  bool saturated() const { return size() >= kMostKept; }
  std::size_t reported() const { return reported_; }  // calls of error(), repetitions included
  // Throws ScenarioError with the first kMost in order of place, if there are any.
  void throw_if_any();

 private:
  std::vector<Diagnostic> diagnostics_;
  std::size_t reported_ = 0;
  std::string strategy_;
};

}  // namespace tidemark::scenarios
