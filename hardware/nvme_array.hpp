#pragma once
// How fast striped NVMe drives read and write, and how long they last.
//
// By Little's law q requests of b bytes in flight, each answered after the latency, carry q x b /
// latency bytes a second; the drives' own bandwidth is the limit:
//
//   rate(q, b) = min(q x b / latency, drives x bandwidth of one)

#include <cstdint>

#include "hardware/machine.hpp"
#include "hardware/units.hpp"

namespace tidemark {

struct NvmeRates {
  Bandwidth read;
  Bandwidth write;
  Bandwidth both;  // of reads and writes at once, at most read + write
};

// Of all drives. Where the write cache is full, writes run at the sustained speed: a training run
// writes its states again and again and leaves the drive no pause in which it could move them out
// of its SLC cache, so that this is the steady state. `kEmpty` is a run that the cache holds, or
// one with pauses long enough.
NvmeRates nvme_rates(const Ssd& ssd);

// What the requests in flight carry, where that is less than `rated`; 0 where it is not, or where
// no size of a request is stated.
Bandwidth request_cap(const Ssd& ssd, Bandwidth rated);

// Until the drives have taken the bytes that their rating allows, when each step writes `per_step`
// bytes, striped evenly, and takes `step`; 0 where nothing is written, no rating is stated or a
// step takes no time.
double days_to_rated_writes(const Ssd& ssd, Bytes per_step, SimTime step);

}  // namespace tidemark
