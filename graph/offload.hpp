#pragma once
// What leaves the GPU and how it moves, as plain data.

#include <cstdint>
#include <vector>

#include "graph/ids.hpp"
#include "graph/transport.hpp"
#include "hardware/units.hpp"

namespace tidemark {

// Tensors that forward saves for backward, and their way out of HBM and back.
struct ActivationOffload {
  enum class To : std::uint8_t { kGpu, kHost, kSsd };
  enum class Which : std::uint8_t { kSaved, kBlockInputs, kModules, kNamed };
  enum class When : std::uint8_t { kAlways, kFitsInWindow };

  To to = To::kGpu;
  Which which = Which::kSaved;
  std::uint32_t modules = 0;    // which = kModules: bit m for Module m, of the ops that save
  std::vector<TensorId> named;  // which = kNamed: of the step that is planned; for planners
  Bytes larger_than = Bytes(std::int64_t{1} << 20);
  std::int64_t keep_last = 1;  // blocks that keep theirs; with one or more, head and loss do too
  std::int64_t prefetch = 1;   // visits ahead in backward (graph/offload/visits.hpp)
  When when = When::kAlways;
  // For planners: with kFitsInWindow, copies are taken to go at so many of kWholeLink of the rates
  // that they have alone.
  static constexpr std::int64_t kWholeLink = 64;
  std::int64_t link_share = kWholeLink;
  Bytes pool;  // of pinned host memory; 0: no bound (host), kStagingPool (ssd)
  // Of each pass, in the order in which they are saved; for planners. With `to` host, so much goes
  // to the SSD, then no more than `most` where `to` says; 0: no bound.
  Bytes ssd_first, most;
  bool synchronous = false;  // the GPU waits for each copy
};

// Room for several of the largest tensors of a 7B model at 2048 tokens.
inline constexpr Bytes kStagingPool{std::int64_t{1} << 30};

// Parameters that are on the GPU only while a block is visited.
struct ParameterOffload {
  enum class To : std::uint8_t { kGpu, kHost, kSsd };

  To to = To::kGpu;
  std::int64_t prefetch = 1;  // visits ahead, in forward and in backward
  std::int64_t buffers = 2;   // ssd: blocks in pinned host memory at once
};

struct Offload {
  enum class States : std::uint8_t { kGpu, kHost, kSsd };
  enum class GradientsLeave : std::uint8_t { kDuringBackward, kAfterBackward };
  enum class Processor : std::uint8_t { kCpu, kGpu };

  States optimizer = States::kGpu;        // where master weights and moments live
  Processor update_on = Processor::kCpu;  // kGpu: states stream through the GPU bucket by bucket
  double fraction = 1;                    // of all elements: their states live there, 0..1
  bool overlap = true;                    // copies of one bucket beside the update of another
  bool delayed_update = false;            // update with the gradients of the step before
  States gradients = States::kGpu;        // where they wait from pass to pass, and for the update
  Processor accumulate_on = Processor::kCpu;  // who adds one pass's gradients to those off the GPU
  GradientsLeave gradients_leave = GradientsLeave::kDuringBackward;
  Bytes bucket = Bytes(std::int64_t{512} << 20);  // bytes of gradients that leave in one transfer
  std::int64_t buffers = 3;  // buckets of states (ssd, update_on gpu) and of gradients in staging
  ActivationOffload activations;
  ParameterOffload parameters;
  Transport transport;
  CpuKernel cpu_kernel = CpuKernel::kFused;
  bool upcast = false;  // a pass before the update widens the gradients to the update's precision
  bool clip = false;    // a pass over all gradients (norm, overflow) before the first update

  bool moves_states() const { return optimizer != States::kGpu; }
  bool updates_on_cpu() const { return moves_states() && update_on == Processor::kCpu; }
  bool streams_states() const { return moves_states() && update_on == Processor::kGpu; }
  bool moves_gradients() const { return gradients != States::kGpu; }
};

}  // namespace tidemark
