#pragma once
// What the parts of verify() share: a list to complain to. They share no knowledge.

#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "graph/program.hpp"
#include "sim/verify.hpp"

namespace tidemark::sim {

class VerifyReport {
 public:
  // Complains unless `holds`; the text is put together only then.
  template <class... Words>
  bool expect(bool holds, Rule rule, const Words&... words) {
    if (holds) return true;
    if (violations_.size() < 100) {
      std::string text;
      (append(text, words), ...);
      violations_.push_back({rule, std::move(text)});
    }
    return false;
  }
  bool clean() const { return violations_.empty(); }
  std::vector<Violation> take() { return std::move(violations_); }

 private:
  static void append(std::string& text, const char* word) { text += word; }
  static void append(std::string& text, std::string_view word) { text += word; }
  static void append(std::string& text, SimTime time) {
    text += std::to_string(time.count()) + " ps";
  }
  static void append(std::string& text, Bytes bytes) { text += std::to_string(bytes.count) + " B"; }
  static void append(std::string& text, InstanceId id) { append_id(text, "instance ", index(id)); }
  static void append(std::string& text, BufferId id) { append_id(text, "buffer ", index(id)); }
  static void append_id(std::string& text, const char* kind, std::uint32_t id) {
    text += kind;
    text += id == kNoIndex ? "none" : std::to_string(id);
  }

  std::vector<Violation> violations_;
};

void verify_memory(const Program& program, const Result& result, const SimulateOptions& options,
                   VerifyReport& report);
void verify_host(const Program& program, const Result& result, const SimulateOptions& options,
                 VerifyReport& report);
void verify_time(const Program& program, const Result& result, VerifyReport& report);
void verify_links(const Program& program, const Result& result, VerifyReport& report);
void verify_stalls(const Program& program, const Result& result, VerifyReport& report);

}  // namespace tidemark::sim
