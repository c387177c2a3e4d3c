#pragma once
// Host memory that tensors pass on their way between HBM and SSD, bounded.

#include <array>
#include <cstdint>
#include <deque>

#include "graph/program_builder.hpp"

namespace tidemark {

// Tensors pass in the order in which they are added, each from the start of its first leg to the
// end of its second one. No more than `room` bytes do at once, or one tensor that is larger. Second
// legs of one stream end in that order.
//
//   room 5; tensors of 2, 2, 3 bytes: the first leg of the third waits for the second leg of the
//   first.
class Staging {
 public:
  explicit Staging(Bytes room) : room_(room) { out_last_.fill(kNoInstance); }

  void pass(ProgramBuilder& builder, InstanceId first_leg, InstanceId second_leg, Bytes bytes) {
    passing_.push_back({second_leg, bytes});
    used_ += bytes;
    while (used_ > room_ && passing_.size() > 1) {
      const InstanceId out = passing_.front().second_leg;
      out_last_[static_cast<std::size_t>(builder.instance(out).stream)] = out;
      used_ -= passing_.front().bytes;
      passing_.pop_front();
    }
    for (const InstanceId out : out_last_) {
      if (out != kNoInstance) builder.depend(first_leg, out);
    }
  }

 private:
  struct Passing {
    InstanceId second_leg{};
    Bytes bytes;
  };
  Bytes room_;
  Bytes used_;
  std::deque<Passing> passing_;                      // that may be there still
  std::array<InstanceId, kStreamCount> out_last_{};  // by stream: the last that is waited for
};

}  // namespace tidemark
