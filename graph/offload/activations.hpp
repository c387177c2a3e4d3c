#pragma once
// Saved tensors leave HBM in forward and come back in backward. Each goes through these instances:
//
//   stream       instance                 starts after
//   copy_out     to the host              the op that saves it
//   [nvme_write  to the SSD               copy_out]
//   [nvme_fetch  from the SSD             as fetch, and nvme_write]
//   fetch        to the GPU               its visit, or one `prefetch` visits earlier, begins; the
//   last
//                                         of the above
//
// HBM comes free when the copy out has ended and the last op of forward that reads the tensor has
// finished. On the way to an SSD and back a tensor is in host memory from the start of one leg to
// the end of the other; those bytes never exceed the pool (or the largest tensor): the first leg
// waits.

#include <vector>

#include "graph/offload/mover.hpp"
#include "graph/offload/saved_tensors.hpp"
#include "graph/offload/stays.hpp"
#include "graph/offload/windows.hpp"

namespace tidemark {

// Which tensors move, and divides their stays. With a pool and To::kHost, tensors that find no room
// in it when they are saved stay.
std::vector<SavedTensor> choose_activations(const StepGraph& graph,
                                            const ActivationOffload& options,
                                            const ProgramBuilder& builder,
                                            const MachinePaths& paths, const Starts& starts,
                                            Stays& stays);

// Adds the transfers of what was chosen, once the kernels and the buffers of `stays` are there.
void offload_activations(Mover& mover, const ActivationOffload& options,
                         const std::vector<SavedTensor>& chosen, const Stays& stays);

}  // namespace tidemark
