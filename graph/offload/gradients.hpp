#pragma once
// Gradients on their way off the GPU, to where they wait, and back. For each bucket:
//
//   host, added by the CPU    copy_out g1          copy_out g2 -> add        ...  -> CPU or copy_in
//   host, added by the GPU    copy_out g1, copy_in g1, GPU adds, copy_out g2 ...
//   ssd                       as on the host, with a write after each copy out and a read before
//                             each use; both pass through staging buffers that take turns
//
// Sources: ZeRO-Offload, arXiv:2101.06840, section 4 (gradients go to the host as they are made);
// DeepSpeed, runtime/zero/stage_1_and_2.py, async_accumulate_grad_in_cpu_via_gpu (later passes
// fetch what is there, add on the GPU, and copy the sum out); ZeRO-Infinity, arXiv:2104.07857.

#include <optional>
#include <string>
#include <vector>

#include "graph/buckets.hpp"
#include "graph/offload.hpp"
#include "graph/offload/cpu_update.hpp"
#include "graph/offload/departures.hpp"
#include "graph/offload/pool.hpp"

namespace tidemark {

// Says which gradients leave after which op.
void leave_gradients(const StepGraph& graph, Departures& departures);

class GradientMoves {
 public:
  // Of `buckets`, which hold the rows of all others the same. All must outlive it.
  GradientMoves(Mover& mover, const Departures& departures, const Stays& stays, CpuUpdate& cpu,
                const Offload& offload, const std::vector<Bucket>& buckets);

  // What happens before the last pass; to be called first.
  void add_early_passes();
  // Bucket i's last pass: its copy out and, where the CPU adds, the sum. `wait`: a copy that has no
  // host buffer until that has finished.
  void add_last_pass(std::size_t i, std::optional<InstanceId> wait = std::nullopt);

  // Bucket i's complete gradients for an update on the CPU: first they come to host memory, then
  // the update is added, and waits for and uses them. They are those of the step before where the
  // offload says so.
  void bring_to_cpu(std::size_t i);
  void give_to_cpu(std::size_t i, InstanceId update);
  // Once bucket i's gradients are off the GPU (for those that wait for all of them).
  InstanceId away(std::size_t i) const { return away_[i]; }
  // Brings them back for an update on the GPU.
  void return_for_update(std::size_t i);

 private:
  struct Of {
    TensorId tensor{};
    OpId ready = kNoOp;
    std::size_t stay = 0;  // the stay of the tensor that this pass ends
  };
  Of gradient(std::size_t pass, std::uint32_t parameter) const;
  void leave(std::size_t pass, std::size_t i, std::optional<InstanceId> wait);
  void add_to_host(std::size_t pass, std::size_t i, InstanceId out);
  void add_to_ssd(std::size_t pass, std::size_t i, InstanceId out);
  // The copy in that begins the given stay of each of the bucket's gradients.
  void bring_back(std::size_t i, std::size_t pass, OpId trigger);
  InstanceId read_back(std::size_t i, std::size_t& turn, bool previous);
  void make_pools();
  bool on_ssd() const { return offload_.gradients == Offload::States::kSsd; }
  bool cpu_adds() const { return offload_.accumulate_on == Offload::Processor::kCpu; }

  Mover& mover_;
  const Departures& departures_;
  const Stays& stays_;
  CpuUpdate& cpu_;
  const Offload& offload_;
  const std::vector<Bucket>& buckets_;
  std::size_t passes_ = 1;
  std::vector<OpId> backward_begins_after_;  // by pass: the last op of its forward
  std::vector<OpId> backward_ends_;          // by pass
  std::vector<BufferId> sums_;               // host: by bucket
  std::vector<BufferId> previous_;           // of the step before, where updates are delayed
  std::vector<InstanceId> complete_;         // by bucket: what the last pass so far ends with
  std::vector<InstanceId> away_;
  std::optional<Pool> arriving_;      // copies out of later passes (host) or of all (ssd)
  std::optional<Pool> reading_;       // ssd: read to be added to
  std::optional<Pool> returning_;     // ssd: read for the GPU or the update
  InstanceId for_cpu_ = kNoInstance;  // the read of bring_to_cpu()
  std::size_t for_cpu_turn_ = 0;
  std::size_t arrived_ = 0, read_ = 0, returned_ = 0;  // turns of the pools
};

}  // namespace tidemark
