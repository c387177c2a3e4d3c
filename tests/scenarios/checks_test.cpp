// Limits, from both sides.

#include "scenarios/checks.hpp"

#include <string>

#include "scenarios/sizes.hpp"
#include "tests/scenarios/text.hpp"
#include "tests/support/catch.hpp"

namespace tidemark::scenarios {
namespace {

std::string with(const std::string& lines) { return kStart + lines + "\n" + kOneStrategy; }

std::string llama_with(const std::string& lines) {
  return "model: " + lines + "\nhardware: h200\n" + kOneStrategy;
}

TEST_CASE("a sequence may be as long as the model's positions") {
  CHECK(errors_of(with("training: {sequence: 2048}")) == "loaded");
  CHECK(errors_of(with("training: {sequence: 2049}")) != "loaded");
}

TEST_CASE("limits of single values hold on both sides") {
  CHECK(errors_of(with("training: {sequence: 1}")) == "loaded");
  CHECK(errors_of(with("offload: {optimizer: host, bucket: 4 KiB}")) == "loaded");
  CHECK(errors_of(with("offload: {optimizer: host, bucket: 4095 B}")) != "loaded");
  CHECK(errors_of(with("offload: {optimizer: ssd, buffers: 1024}")) == "loaded");
  CHECK(errors_of(with("offload: {optimizer: ssd, buffers: 1025}")) != "loaded");
  CHECK(errors_of(llama_with("{base: gpt-7b, dropout: 0.99}")) == "loaded");
  CHECK(errors_of(llama_with("{base: gpt-7b, dropout: 0.991}")) != "loaded");
  CHECK(errors_of(llama_with("{base: llama-2-7b, layers: 32767}")) == "loaded");
  CHECK(errors_of(llama_with("{base: llama-2-7b, layers: 32768}")) != "loaded");
}

TEST_CASE("head_dim frees a llama from hidden / heads, kv_heads must divide heads") {
  CHECK(errors_of(llama_with("{base: llama-2-7b, heads: 24}")) != "loaded");  // 4096 / 24
  CHECK(errors_of(llama_with("{base: llama-2-7b, heads: 24, kv_heads: 24, head_dim: 128}")) ==
        "loaded");
  CHECK(errors_of(llama_with("{base: llama-2-7b, kv_heads: 16}")) == "loaded");
  CHECK(errors_of(llama_with("{base: llama-2-7b, kv_heads: 33}")) != "loaded");
  CHECK(errors_of(llama_with("{base: llama-2-7b, heads: 8192, kv_heads: 8192}")) != "loaded");
}

TEST_CASE("a key that says nothing is refused only where it would have to say something") {
  CHECK(errors_of(llama_with("{base: gpt-7b, kv_heads: 32}")) == "loaded");  // as many as heads
  CHECK(errors_of(llama_with("{base: gpt-7b, kv_heads: 16}")) != "loaded");
  CHECK(errors_of(llama_with("{base: llama-2-7b, dropout: 0}")) == "loaded");
  CHECK(errors_of(llama_with("{base: llama-2-7b, dropout: 0.1}")) != "loaded");
  CHECK(why_meaningless(Architecture::kLlama, "model.dropout") == "llama has no dropout");
  CHECK(why_meaningless(Architecture::kGpt, "model.dropout").empty());
}

TEST_CASE("parameters whose bytes could not be counted are refused") {
  // extra_parameters go up to 2^50; with hidden = ffn / 4 = 2^25 and 32 layers there are
  // 32 x (4 + 12) x 2^50 = 2^59 parameters at most, above 2^57; with hidden = 2^23 there are 2^55.
  const std::string start = "{base: gpt-7b, extra_parameters: 1125899906842624, ";
  CHECK(errors_of(llama_with(start + "hidden: 8388608, ffn: 33554432}"))
            .find("too many to count their") == std::string::npos);
  CHECK(errors_of(llama_with(start + "hidden: 33554432, ffn: 134217728}"))
            .find("parameters, too many to count their bytes") != std::string::npos);
}

TEST_CASE("the quick bound of operations is above what lowering makes") {
  for (const char* model : {"gpt-124m", "gpt2-124m", "qwen2-0.5b"}) {
    for (const char* precision : {"fp32", "bf16-mixed", "autocast"}) {
      for (const char* micro_batches : {"1", "3"}) {
        INFO(model << " " << precision << " " << micro_batches);
        const RunSpec run = load_text("model: " + std::string(model) +
                                          "\nhardware: h200\ncheckpoint: full\n" + kOneStrategy,
                                      {{"training.precision", precision},
                                       {"training.micro_batches", micro_batches}})
                                .runs[0];
        CHECK(estimate_rows(run) <= most_rows(run));
        CHECK(estimate_rows(run) >= most_rows(run) / 100);
      }
    }
  }
}

TEST_CASE("large numbers are told with two digits, small ones in full") {
  CHECK(about(0) == "0");
  CHECK(about(9'999'999) == "9999999");
  CHECK(about(10'000'000) == "1.0e7");
  CHECK(about(7'000'000'000) == "7.0e9");
  CHECK(about(Int128{1} << 100) == "1.3e30");
}

}  // namespace
}  // namespace tidemark::scenarios
