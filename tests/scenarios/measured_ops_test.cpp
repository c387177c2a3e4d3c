// What PyTorch's own operators take, kernel by kernel, against published times of small modules
// (tests/data/measured/torch_ops.csv).

#include <functional>
#include <map>
#include <vector>

#include "graph/autograd.hpp"
#include "graph/op_time.hpp"
#include "graph/ops/ops.hpp"
#include "tests/scenarios/measured.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/files.hpp"

namespace tidemark::scenarios {
namespace {

using test::csv_rows;
using test::Row;
using tidemark::Value;

Value leaf(Tape& tape, const Shape& shape, DType dtype = DType::kBf16) {
  const Value x = tape.initial(shape, dtype, Category::kInputs, "x");
  tape.make_leaf(x);
  return x;
}

// LlamaRMSNorm on 2048 rows of `size`, its weight in fp32.
std::vector<Value> rms_norm(Tape& tape, std::int64_t size) {
  const Value x = leaf(tape, {1, 2048, size});
  const Value weight = leaf(tape, {size}, DType::kF32);
  const Value wide = to_copy(x, DType::kF32);
  const Value mean = mean_last(power(wide));
  const Value scaled = mul(wide, rsqrt(add_scalar(mean)));
  return {mul(weight, to_copy(scaled, DType::kBf16))};
}

Value rotated(const Value& x, const Value& cosine, const Value& sine) {
  const std::int64_t half = x.size(-1) / 2;
  const Value straight = mul(x, cosine);
  const Value turned = cat(neg(slice(x, -1, half)), slice(x, -1, half), -1);
  return add(straight, mul(turned, sine));
}

// apply_rotary_pos_emb on `size` tokens of 32 query and 8 key heads of 256.
std::vector<Value> rope(Tape& tape, std::int64_t size) {
  const Value q = transpose(leaf(tape, {1, size, 32, 256}), 1, 2);
  const Value k = transpose(leaf(tape, {1, size, 8, 256}), 1, 2);
  const Value cosine = tape.initial({1, 1, size, 256}, DType::kBf16, Category::kConstants, "cos");
  const Value sine = tape.initial({1, 1, size, 256}, DType::kBf16, Category::kConstants, "sin");
  return {rotated(q, cosine, sine), rotated(k, cosine, sine)};
}

// LlamaMLP of 4096 and 11008 on 4 x `size` tokens.
std::vector<Value> swiglu_mlp(Tape& tape, std::int64_t size) {
  const Value x = leaf(tape, {4, size, 4096});
  const Value gate = linear(x, leaf(tape, {11008, 4096}), {});
  const Value up = linear(x, leaf(tape, {11008, 4096}), {});
  return {linear(mul(silu(gate), up), leaf(tape, {4096, 11008}), {})};
}

// A head of 128256 on `size` tokens of 4096, and the loss.
std::vector<Value> linear_cross_entropy(Tape& tape, std::int64_t size) {
  const Value x = leaf(tape, {1, size, 4096});
  const Value labels = tape.initial({size}, DType::kI64, Category::kInputs, "labels");
  const Value logits = linear(x, leaf(tape, {128256, 4096}), {});
  return {nll_loss(log_softmax(view(logits, Shape{size, 128256})), labels)};
}

// silu(a) * b of the halves of 8192 rows of 2 x `size`.
std::vector<Value> swiglu_halves(Tape& tape, std::int64_t size) {
  const std::vector<Value> halves = split(leaf(tape, {2048, 4, 2 * size}), 2, size);
  return {mul(silu(halves[0]), halves[1])};
}

using Module = std::function<std::vector<Value>(Tape&, std::int64_t)>;
const std::map<std::string, Module> kModules = {{"rms_norm", rms_norm},
                                                {"rope", rope},
                                                {"swiglu_mlp", swiglu_mlp},
                                                {"linear_cross_entropy", linear_cross_entropy},
                                                {"swiglu_halves", swiglu_halves}};

// Milliseconds of the kernels of a module, one after another.
double kernel_ms(const Machine& machine, const Module& module, std::int64_t size, bool backward) {
  const Kernels kernels;
  Tape tape(kernels);
  const std::vector<Value> results = module(tape, size);
  for (const Value& y : results) {
    if (!backward) continue;
    const Value seed = tape.initial(y.shape(), y.dtype(), Category::kInputs, "dy");
    tidemark::backward(tape, y, seed);
  }
  SimTime sum{};
  for (const Op& op : tape.graph().ops) sum += op_time(machine.gpu, op);
  return seconds(sum) * 1e3;
}

TEST_CASE("PyTorch's operators take the time that was measured") {
  std::map<std::string, Machine> machines;
  std::map<std::string, Errors> errors;
  for (const Row& row : csv_rows("tests/data/measured/torch_ops.csv")) {
    const std::string& device = row.at("device");
    if (machines.count(device) == 0) machines[device] = machine_of(device);
    const double simulated = kernel_ms(machines.at(device), kModules.at(row.at("op")),
                                       std::stoll(row.at("size")), row.at("pass") == "both");
    errors[row.at("op") + " " + row.at("pass")].add("size " + row.at("size"), simulated,
                                                    std::stod(row.at("ms")));
  }
  for (const auto& [name, table] : errors) {
    INFO(name << "\n" << table.text() << "median " << table.median());
    CHECK(table.median() < 0.10);
  }
}

}  // namespace
}  // namespace tidemark::scenarios
