// The models that the other tests of this folder use.

#include "graph/remat/referee.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/remat_transformers.hpp"

namespace tidemark::remat {
namespace {

using test::coarse;
using test::Kind;
using test::transformer;
using test::Transformer;

double gibibytes(std::int64_t bytes) { return static_cast<double>(bytes) / (1 << 30); }

// In s·b·h: 34 + 5 a s / h = 114 a layer (Korthikanti et al. 2022, equation 2), 34 and one float a
// row and head with fused attention. At the peak, in the last layer: for gpt the backward of the
// context product, where the MLP's 21, mask, residual and attention's output are gone and the
// residual's gradient 2, the output's 2, the probabilities' 32, the values' 2 are there; for flash
// the backward of the second linear, for llama that of the SwiGLU's product.
TEST_CASE("the transformers keep what is published, and their peaks are these") {
  const auto peak = [](Kind kind) {
    const Problem problem = transformer(kind);
    return referee(problem, keep_everything(problem)).peak;
  };
  const auto units = [](double count) {
    return static_cast<std::int64_t>(count * static_cast<double>(Transformer::kUnit));
  };
  CHECK(peak(Kind::kGpt) == units(32 * 114 + 14));
  CHECK(peak(Kind::kFlash) == units(32 * (34 + 1. / 32) + 11));
  CHECK(peak(Kind::kLlama) == units(32 * (37.5 + 1. / 32) + 12.75));
  CHECK(gibibytes(peak(Kind::kGpt)) == Approx(28.61).margin(0.005));
  CHECK(gibibytes(peak(Kind::kFlash)) == Approx(8.59).margin(0.005));
  CHECK(gibibytes(peak(Kind::kLlama)) == Approx(9.48).margin(0.005));
}

TEST_CASE("forward is a third of a step, less where attention is eager") {
  const auto share = [](Kind kind) {
    const Problem problem = transformer(kind);
    std::int64_t forward = 0;
    for (OpIndex op = 0; op < problem.backward_begin(); ++op) forward += problem.op(op).cost;
    return 100. * static_cast<double>(forward) / static_cast<double>(problem.base_time());
  };
  // Running forward once more, in % of a step: margin 0.2, for the backward of pointwise ops can be
  // fused in more than one way.
  CHECK(share(Kind::kGpt) == Approx(35.4).margin(0.2));
  CHECK(share(Kind::kFlash) == Approx(33.3).margin(0.2));
  CHECK(share(Kind::kLlama) == Approx(33.6).margin(0.2));
}

TEST_CASE("the coarse chain takes 78 a layer and, keeping everything, 10 bytes a layer and 5") {
  for (std::uint32_t layers = 1; layers <= 4; ++layers) {
    const Problem problem = coarse(layers);
    CHECK(problem.base_time() == 100 + 78 * layers);
    CHECK(referee(problem, keep_everything(problem)).peak == 10 * layers + 5);
    CHECK(needs_at_least(problem).bytes == 9);
  }
}

}  // namespace
}  // namespace tidemark::remat
