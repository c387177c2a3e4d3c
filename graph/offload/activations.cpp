#include "graph/offload/activations.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "graph/offload/staging.hpp"
#include "hardware/ensure.hpp"

namespace tidemark {
namespace {

using To = ActivationOffload::To;

// All tensors of a pass are where they go when its forward has ended, and none when its backward
// has. What finds no room stays.
std::vector<SavedTensor> with_room(const std::vector<SavedTensor>& tensors, const StepGraph& graph,
                                   Bytes on_ssd_first, std::optional<Bytes> most, To to) {
  const std::vector<Visit> walk = visits(graph);
  std::vector<SavedTensor> taken;
  std::uint32_t pass = kNoIndex;
  Bytes first, rest;  // of this pass
  for (SavedTensor x : tensors) {
    if (std::exchange(pass, walk[x.visit].start) != walk[x.visit].start) first = rest = Bytes(0);
    const Bytes bytes = graph.tensor(x.tensor).bytes;
    if (first + bytes <= on_ssd_first) {
      first += bytes;
      x.to = To::kSsd;
    } else if (!most || rest + bytes <= *most) {
      rest += bytes;
      x.to = to;
    } else {
      continue;
    }
    taken.push_back(x);
  }
  return taken;
}

// Of what goes where `to` says.
std::optional<Bytes> most_of(const ActivationOffload& options) {
  std::optional<Bytes> most;
  if (options.most.count > 0) most = options.most;
  if (options.to == To::kHost && options.pool.count > 0) {
    most = std::min(most.value_or(options.pool), options.pool);
  }
  return most;
}

class ActivationTransfers {
 public:
  ActivationTransfers(Mover& mover, const ActivationOffload& options,
                      const std::vector<SavedTensor>& chosen, const Stays& stays)
      : mover_(mover),
        synchronous_(options.synchronous),
        chosen_(chosen),
        stays_(stays),
        kept_(chosen.size(), kNoBuffer),
        out_(chosen.size(), kNoInstance) {
    const Bytes pool = options.to == To::kSsd ? options.pool : Bytes(0);
    if (std::ranges::any_of(chosen, on_ssd)) staging_.emplace(pool.count > 0 ? pool : kStagingPool);
  }

  // In the order in which they are issued, which is that of the streams.
  void add() {
    struct Turn {
      OpId after{};
      bool in = false;
      OpId first_use{};
      std::size_t row = 0;
    };
    std::vector<Turn> turns;
    for (std::size_t i = 0; i < chosen_.size(); ++i) {
      turns.push_back({chosen_[i].saved, false, chosen_[i].saved, i});
      turns.push_back({chosen_[i].fetch_after, true, chosen_[i].first_backward, i});
    }
    std::ranges::stable_sort(turns, {}, [](const Turn& turn) {
      return std::tuple(turn.after, turn.in, turn.first_use);
    });
    for (const Turn& turn : turns) {
      if (turn.in) {
        add_in(turn.row);
      } else {
        add_out(turn.row);
      }
    }
  }

 private:
  static bool on_ssd(const SavedTensor& x) { return x.to == To::kSsd; }

  const Tensor& tensor(const SavedTensor& x) const { return mover_.graph().tensor(x.tensor); }

  std::string name(const SavedTensor& x, const char* way) const {
    return std::string(mover_.graph().name(tensor(x).name)) + way;
  }

  BufferId buffer(const SavedTensor& x, Tier tier, Category category) {
    return mover_.builder().add_buffer(
        {.bytes = tensor(x).bytes, .tier = tier, .category = category, .tensor = x.tensor});
  }

  void add_out(std::size_t row) {
    const SavedTensor& x = chosen_[row];
    const Tensor& what = tensor(x);
    if (on_ssd(x) && mover_.direct()) return store_directly(row);
    const InstanceId copy = mover_.copy_out(what.bytes, name(x, " to the host"), what.layer);
    mover_.after(copy, x.saved);
    mover_.use(copy, stays_.buffer_of_stay(x.tensor, 0));
    InstanceId last = copy;
    if (!on_ssd(x)) {
      kept_[row] = buffer(x, Tier::kHost, what.category);
      mover_.use(copy, kept_[row]);
    } else {
      kept_[row] = buffer(x, Tier::kSsd, what.category);
      last = mover_.write(what.bytes, name(x, " to the SSD"), what.layer);
      mover_.depend(last, copy);
      mover_.use(last, kept_[row]);
      pass_staging(x, copy, last);
    }
    out_[row] = last;
    if (synchronous_) mover_.before(OpId{index(x.saved) + 1}, last);
  }

  void add_in(std::size_t row) {
    const SavedTensor& x = chosen_[row];
    const Tensor& what = tensor(x);
    if (on_ssd(x) && mover_.direct()) return fetch_directly(row);
    std::optional<InstanceId> read;
    if (on_ssd(x)) {
      read = mover_.read_to_fetch(what.bytes, name(x, " from the SSD"), what.layer);
      mover_.after(*read, x.fetch_after);
      mover_.depend(*read, out_[row]);
      mover_.use(*read, kept_[row]);
    }
    const InstanceId copy = mover_.fetch(what.bytes, name(x, " to the GPU"), what.layer);
    mover_.after(copy, x.fetch_after);
    mover_.depend(copy, read.value_or(out_[row]));
    mover_.use(copy, stays_.buffer_of_stay(x.tensor, 1));
    mover_.before(x.first_backward, copy);
    if (read) {
      pass_staging(x, *read, copy);
    } else {
      mover_.use(copy, kept_[row]);
    }
  }

  void store_directly(std::size_t row) {
    const SavedTensor& x = chosen_[row];
    const Tensor& what = tensor(x);
    kept_[row] = buffer(x, Tier::kSsd, what.category);
    out_[row] = mover_.store_directly(what.bytes, name(x, " to the SSD"), what.layer);
    mover_.after(out_[row], x.saved);
    mover_.use(out_[row], stays_.buffer_of_stay(x.tensor, 0));
    mover_.use(out_[row], kept_[row]);
    if (synchronous_) mover_.before(OpId{index(x.saved) + 1}, out_[row]);
  }

  void fetch_directly(std::size_t row) {
    const SavedTensor& x = chosen_[row];
    const Tensor& what = tensor(x);
    const InstanceId read = mover_.fetch_directly(what.bytes, name(x, " from the SSD"), what.layer);
    mover_.after(read, x.fetch_after);
    mover_.depend(read, out_[row]);
    mover_.use(read, kept_[row]);
    mover_.use(read, stays_.buffer_of_stay(x.tensor, 1));
    mover_.before(x.first_backward, read);
  }

  void pass_staging(const SavedTensor& x, InstanceId first_leg, InstanceId second_leg) {
    const BufferId staged = buffer(x, Tier::kHost, Category::kStaging);
    mover_.use(first_leg, staged);
    mover_.use(second_leg, staged);
    staging_->pass(mover_.builder(), first_leg, second_leg, tensor(x).bytes);
  }

  Mover& mover_;
  const bool synchronous_;
  const std::vector<SavedTensor>& chosen_;
  const Stays& stays_;
  std::vector<BufferId> kept_;   // by row of chosen_: on the host, or on the SSD
  std::vector<InstanceId> out_;  // by row: when it has arrived there
  std::optional<Staging> staging_;
};

}  // namespace

std::vector<SavedTensor> choose_activations(const StepGraph& graph,
                                            const ActivationOffload& options,
                                            const ProgramBuilder& builder,
                                            const MachinePaths& paths, const Starts& starts,
                                            Stays& stays) {
  if (options.to == To::kGpu) return {};
  std::vector<SavedTensor> chosen = saved_tensors(graph, options);
  if (options.when == ActivationOffload::When::kFitsInWindow) {
    const CopyTimes times = copy_times(builder, paths, options.to);
    const auto slower = [&](const std::function<SimTime(Bytes)>& time) {
      return [&](Bytes bytes) {
        return time(bytes) * ActivationOffload::kWholeLink / options.link_share;
      };
    };
    chosen = fit_in_windows(chosen, graph, starts, {slower(times.out), slower(times.in)});
  }
  chosen = with_room(chosen, graph, options.ssd_first, most_of(options), options.to);
  for (const SavedTensor& x : chosen) {
    const std::array<Stay, 2> parts{Stay{graph.tensor(x.tensor).producer, x.last_forward},
                                    Stay{x.first_backward, x.last_backward}};
    stays.divide(x.tensor, parts);
  }
  return chosen;
}

void offload_activations(Mover& mover, const ActivationOffload& options,
                         const std::vector<SavedTensor>& chosen, const Stays& stays) {
  ActivationTransfers(mover, options, chosen, stays).add();
}

}  // namespace tidemark
