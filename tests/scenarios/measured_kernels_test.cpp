// Matrix products and fused attention against published throughputs (tests/data/measured). Rows
// with use `fit` are what device figures come from, `test` rows are not.

#include <map>

#include "hardware/attention_time.hpp"
#include "hardware/kernel_time.hpp"
#include "tests/scenarios/measured.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/files.hpp"

namespace tidemark::scenarios {
namespace {

using test::csv_rows;
using test::Row;

double simulated_tflops(const Machine& machine, const KernelWork& work) {
  return static_cast<double>(work.flops.count) / seconds(kernel_time(machine.gpu, work)) / 1e12;
}

std::string words_of(const Row& row) {
  std::string words;
  for (const auto& [column, value] : row) words += column + " " + value + ", ";
  return words;
}

KernelWork product_of(const Row& row) {
  KernelWork work;
  work.work = WorkClass::kMatmul;
  work.batch = std::stoll(row.at("batch"));
  work.m = std::stoll(row.at("m"));
  work.n = std::stoll(row.at("n"));
  work.k = std::stoll(row.at("k"));
  work.flops = Flops(2 * work.batch * work.m * work.n * work.k);
  work.bytes = Bytes(2 * work.batch * (work.m * work.k + work.k * work.n + work.m * work.n));
  return work;
}

KernelWork attention_of(const Row& row) {
  KernelWork work;
  const bool forward = row.at("pass") == "forward";
  work.work = forward ? WorkClass::kAttention : WorkClass::kAttentionBackward;
  work.m = work.n = std::stoll(row.at("sequence"));
  work.k = std::stoll(row.at("head_dim"));
  work.batch = std::stoll(row.at("heads"));
  work.flops = Flops((forward ? 2 : 5) * work.batch * work.m * work.m * work.k);
  work.bytes = Bytes((forward ? 8 : 16) * work.batch * work.m * work.k);
  return work;
}

// By device and use. Throughputs: an error of +10 % is a time of -9 %.
template <class WorkOf>
std::map<std::string, Errors> errors_of_table(const std::string& file, WorkOf work_of) {
  std::map<std::string, Machine> machines;
  std::map<std::string, Errors> errors;
  for (const Row& row : csv_rows("tests/data/measured/" + file)) {
    const std::string& device = row.at("device");
    if (machines.count(device) == 0) machines[device] = machine_of(device);
    errors[device + " " + row.at("use")].add(words_of(row),
                                             simulated_tflops(machines.at(device), work_of(row)),
                                             std::stod(row.at("tflops")));
  }
  return errors;
}

// Rows alone are held to this: their cards and clocks are not known well enough. 20 %: fp16 at 8192
// on an A100-80GB of 2022 (variant not stated, cuBLAS 11.7). -10 %: an RTX 4090 above its nominal
// clock. 12 %: FlashAttention-2 on an A100 that fell to 1.2 GHz, as its author notes.
constexpr double kAlone = 0.25;

TEST_CASE("matrix products that no figure was fitted to take the time that was measured") {
  const auto errors = errors_of_table("matmul.csv", product_of);
  for (const auto& [name, table] : errors) {
    INFO(name << "\n" << table.text() << "median " << table.median());
    CHECK(table.median() < (table.count() < 5 ? kAlone : 0.08));
  }
  CHECK(errors.at("a100-80gb-pcie test").count() == 42);
  CHECK(errors.at("h100-80gb-sxm test").count() == 48);
}

TEST_CASE("fused attention that no figure was fitted to takes the time that was measured") {
  for (const auto& [name, table] : errors_of_table("flash_attention.csv", attention_of)) {
    INFO(name << "\n" << table.text() << "median " << table.median());
    CHECK(table.median() < (table.count() < 3 ? kAlone : 0.10));
  }
}

}  // namespace
}  // namespace tidemark::scenarios
