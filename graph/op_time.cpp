#include "graph/op_time.hpp"

#include "hardware/kernel_time.hpp"

namespace tidemark {

SimTime op_time(const Gpu& gpu, const Op& op) {
  return kernel_time(gpu, {.work = op.work,
                           .arithmetic = op.arithmetic,
                           .m = op.m,
                           .n = op.n,
                           .k = op.k,
                           .batch = op.batch,
                           .kernels = op.kernels,
                           .strided = op.strided,
                           .flops = op.flops,
                           .bytes = op.bytes_read + op.bytes_written});
}

SimTime issue_time(const Host& host, const Op& op) {
  return op.work == WorkClass::kNone ? SimTime(0) : host.issue;
}

}  // namespace tidemark
