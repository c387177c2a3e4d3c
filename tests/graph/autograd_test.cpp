// Random scripts through the tape and through a naive interpreter: the same kernels in the same
// order, with the same storages alive at each.

#include "graph/autograd.hpp"

#include <map>
#include <random>

#include "graph/op_kind.hpp"
#include "graph/ops/ops.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/naive_autograd.hpp"

namespace tidemark {
namespace {

using support::NaiveAutograd;
using support::NaiveOp;
using support::Statement;
using support::Verb;

constexpr int kParameters = 3;
constexpr int kVariables = 5;

struct Script {
  std::vector<Statement> statements;
  int result = 0;
};

// Every parameter takes part in the result.
Script random_script(std::uint32_t seed) {
  std::mt19937 random(seed);
  const auto below = [&](int n) {
    return static_cast<int>(random() % static_cast<std::uint32_t>(n));
  };
  Script script;
  std::vector<bool> bound(kVariables, false);
  const auto pick = [&] {
    for (int tries = 0; tries < 8; ++tries) {
      const int v = below(kVariables);
      if (bound[static_cast<std::size_t>(v)]) return v;
    }
    return -1 - below(kParameters);
  };
  const int count = 1 + below(22);
  for (int i = 0; i < count; ++i) {
    Statement s;
    s.target = below(kVariables);
    s.deletes = below(6) == 0;
    s.verb = static_cast<Verb>(below(6));
    s.a = pick();
    s.b = pick();
    if (!s.deletes) bound[static_cast<std::size_t>(s.target)] = true;
    if (s.deletes) bound[static_cast<std::size_t>(s.target)] = false;
    script.statements.push_back(s);
  }
  Statement sum{false, 0, Verb::kAdd, -1, -2};
  for (int p = 0; p < kParameters; ++p) {
    sum.a = pick();
    sum.b = -1 - p;
    script.statements.push_back(sum);
    bound[0] = true;
  }
  for (int v = 1; v < kVariables; ++v) {
    if (bound[static_cast<std::size_t>(v)] && below(2) == 0) {
      script.statements.push_back({false, 0, Verb::kMul, 0, v});
    }
  }
  // The root must be a kernel's result that nothing else follows.
  script.statements.push_back({false, 0, Verb::kAdd, 0, 0});
  return script;
}

std::vector<NaiveOp> through_tape(const Script& script, Kernels::Accumulate accumulate) {
  Kernels kernels;
  kernels.accumulate = accumulate;
  Tape tape(kernels);
  std::vector<Value> parameters, variables(kVariables);
  for (int i = 0; i < kParameters; ++i) {
    parameters.push_back(tape.initial({4, 4}, DType::kF32, Category::kParameters, "p"));
    tape.leaves()[tape.make_leaf(parameters.back())].parameter = true;
  }
  const auto operand = [&](int v) -> const Value& {
    return v < 0 ? parameters[static_cast<std::size_t>(-1 - v)]
                 : variables[static_cast<std::size_t>(v)];
  };
  const auto apply = [&](const Statement& s) {
    switch (s.verb) {
      case Verb::kAdd:
        return add(operand(s.a), operand(s.b));
      case Verb::kMul:
        return mul(operand(s.a), operand(s.b));
      case Verb::kGelu:
        return gelu(operand(s.a));
      case Verb::kSoftmax:
        return softmax(operand(s.a));
      case Verb::kView:
        return view(operand(s.a), Shape{4, 4});
      case Verb::kClone:
        return clone_contiguous(operand(s.a));
    }
    return Value();
  };
  for (const Statement& s : script.statements) {
    Value& target = variables[static_cast<std::size_t>(s.target)];
    if (s.deletes) {
      target.reset();
    } else {
      target = apply(s);
    }
  }
  {
    const Value seed = tape.make(OpKind::kOnes, {}, Layout(Shape{4, 4}), DType::kF32);
    backward(tape, operand(0), seed);
  }
  const StepGraph graph = tape.finish();
  std::vector<NaiveOp> ops;
  for (std::uint32_t i = 0; i < graph.op_count(); ++i) {
    NaiveOp op{std::string(name_of(graph.ops[i].kind)), {}};
    for (std::size_t t = 0; t < graph.tensors.size(); ++t) {
      const Tensor& tensor = graph.tensors[t];
      const bool born = tensor.initial() || index(tensor.producer) <= i;
      const bool dead = !tensor.persistent() && index(tensor.last_use) < i;
      if (born && !dead) op.alive.insert(static_cast<int>(t));
    }
    ops.push_back(op);
  }
  return ops;
}

TEST_CASE("storages live as long as in a naive interpreter of autograd's rules") {
  for (std::uint32_t seed = 0; seed < 1500; ++seed) {
    const bool in_place = seed % 3 != 0;
    const Script script = random_script(seed);
    NaiveAutograd naive(kParameters, kVariables, in_place);
    for (const Statement& s : script.statements) naive.run(s);
    naive.backward(0);
    const std::vector<NaiveOp> found = through_tape(
        script, in_place ? Kernels::Accumulate::kInplace : Kernels::Accumulate::kOutOfPlace);
    INFO("seed " << seed);
    REQUIRE(found.size() == naive.ops.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      INFO("op " << i << ": " << found[i].kernel);
      REQUIRE(found[i].kernel == naive.ops[i].kernel);
      REQUIRE(found[i].alive == naive.ops[i].alive);
    }
  }
}

// y = gelu(x w); loss = y y: by hand.
//   mul x w -> 2 (saved twice: x, w by mul; itself by gelu); gelu -> 3; mul -> 4
//   backward: ones 5; mul 6, mul 7 (both of 3); 6 + 7 in place; gelu_backward 8; mul 9, mul 10
TEST_CASE("a storage dies with the last node that saved it") {
  Kernels kernels;
  Tape tape(kernels);
  Value x = tape.initial({4, 4}, DType::kF32, Category::kInputs, "x");
  const Value w = tape.initial({4, 4}, DType::kF32, Category::kParameters, "w");
  tape.make_leaf(w);
  Value y = mul(x, w);
  x.reset();
  y = gelu(y);
  y = mul(y, y);
  {
    const Value seed = tape.make(OpKind::kOnes, {}, Layout(Shape{4, 4}), DType::kF32);
    backward(tape, y, seed);
  }
  y.reset();
  const StepGraph graph = tape.finish();
  const auto last = [&](std::size_t t) { return index(graph.tensors[t].last_use); };
  // Ops: 0 mul, 1 gelu, 2 mul, 3 ones, 4 mul, 5 mul, 6 add_, 7 gelu_backward, 8 mul (dw).
  REQUIRE(graph.op_count() == 9);
  CHECK(last(0) == 8);  // x: saved by the first mul for the gradient of w
  CHECK(last(2) == 7);  // x w: saved by gelu
  CHECK(last(3) == 5);  // gelu's result: saved by the second mul
  CHECK(graph.op(OpId{6}).kind == OpKind::kAddInplace);
}

}  // namespace
}  // namespace tidemark
