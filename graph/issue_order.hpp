#pragma once

#include <span>

#include "graph/program.hpp"

namespace tidemark {

// Puts the transfers and the CPU work of each stream into the order in which a framework would
// issue them: an instance is issued with the last kernel that it waits for, directly or through
// other instances; those issued with the same kernel keep the order that they have. So strategies
// can add what they move one after the other, though their transfers alternate in the step.
//
//   copy_out   added:  gradients of pass 1 (after kernel 40), activations of pass 2 (after 50),
//              and by another strategy: gradients of pass 2 (after 90), activations of pass 1
//              (after 10)
//              issued: 10, 40, 50, 90
//
// Kernels keep their order. Where every instance was added after what it waits for, and no kernel
// waits for what waits for it or a later one, dependencies and orders form no cycle.
void order_by_issue(Program& program);

// Each of `copies` blocks the host: no kernel is issued between the last one that the copy waits
// for and the copy's end, so the next one depends on the copy. Of a program that order_by_issue()
// has ordered; forms no cycle.
void hold_issue(Program& program, std::span<const InstanceId> copies);

}  // namespace tidemark
