#pragma once

#include "graph/op.hpp"
#include "hardware/machine.hpp"

namespace tidemark {

// How long the kernels of an op take on a GPU that has nothing else to do.
SimTime op_time(const Gpu& gpu, const Op& op);

// What issuing an op costs the host: an operation of the framework, however many kernels it is.
SimTime issue_time(const Host& host, const Op& op);

}  // namespace tidemark
