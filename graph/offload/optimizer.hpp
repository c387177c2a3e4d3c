#pragma once
// The optimizer step on the host. A bucket of gradients goes through these instances:
//
//   stream         instance                          starts after
//   copy_out       gradients to the host             its last gradient (or all of backward)
//   [nvme_read     states from the SSD               the state buffer is free again]
//   cpu_optimizer  update                            gradients [and states] are on the host
//   [nvme_write    states to the SSD                 update]
//   copy_in        new parameters to the GPU         update, and the last reader of the old
//
// Bytes on the host beside the states: gradients from the start of their copy to the end of the
// update; rounded parameters from the start of the update to the end of their copy. With the states
// on an SSD, a pool of pinned state buffers is there all the time, bucket i in buffer i mod their
// number; reads run ahead of the gradients as far as the pool lets them.
// Without overlap the three columns follow one another: all gradients, all updates, all parameters
// (with states on an SSD: one bucket after the other, as there is one state buffer).
//
// Delayed by one step (ZeRO-Offload, arXiv:2101.06840, section 5.2) updates take the gradients of
// the step before, which are on the host when the step starts, and run beside this step's forward
// and backward; a bucket's parameters come in as soon as backward has read the old ones and those
// of the buckets before it are on their way. This step's gradients stay on the host for the next: a
// second set of them.
//
// Where parameters are kept off the GPU, nothing comes in: on the host the update has written them
// where they are kept, to an SSD an nvme_write takes them. The update waits for the last fetch of
// the old ones.
//
// A gradient's HBM comes free when its copy ends. An op that writes a gradient again (zeroes it for
// the next step) waits for that copy.

#include <vector>

#include "graph/model.hpp"
#include "graph/offload.hpp"
#include "graph/offload/departures.hpp"
#include "graph/offload/mover.hpp"

namespace tidemark {

// Adds that to the mover's program for all parameters that are updated elsewhere.
// `parameter_reads`: what fetch_parameters() returns.
void offload_optimizer(Mover& mover, const Departures& departures, const Stays& stays,
                       const TrainingConfig& training, const Offload& offload,
                       const std::vector<InstanceId>& parameter_reads);

}  // namespace tidemark
