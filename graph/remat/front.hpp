#pragma once
// The exact front of what a run of ops can keep: no other set keeps no more bytes at no more cost.

#include <vector>

#include "graph/remat/keep_cut.hpp"

namespace tidemark::remat {

// Drops what another set matches or beats in both; from most bytes to fewest.
std::vector<KeepSet> pareto(std::vector<KeepSet> sets);

// By enumeration with bit masks, after tensors were left out that no set on the front needs: one
// that backward does not read, whose only reader makes something no larger that can be kept
// instead. With more than `most` tensors to choose from: those on which the sets of the hull
// (keep_hull) disagree are enumerated, the others as the hull has them; with still more,
// the hull alone. `exact`, unless it is null, is set to whether it is the whole front: the hull's
// sets are on it in any case.
std::vector<KeepSet> keep_front(const KeepProblem& what, std::size_t most = 18,
                                bool* exact = nullptr);

}  // namespace tidemark::remat
