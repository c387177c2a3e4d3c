#pragma once
// Indices that cannot be mixed up and cost nothing.

#include <cstdint>

namespace tidemark {

enum class TensorId : std::uint32_t {};
enum class OpId : std::uint32_t {};
enum class NameId : std::uint32_t {};      // a row of StepGraph::names
enum class InstanceId : std::uint32_t {};  // an op instance of a Program
enum class BufferId : std::uint32_t {};    // bytes in one tier, in a Program
enum class PathId : std::uint32_t {};      // a set of links, in a Program

inline constexpr std::uint32_t kNoIndex = 0xffffffffu;
inline constexpr OpId kNoOp{kNoIndex};
inline constexpr TensorId kNoTensor{kNoIndex};
inline constexpr PathId kNoPath{kNoIndex};
inline constexpr InstanceId kNoInstance{kNoIndex};
inline constexpr BufferId kNoBuffer{kNoIndex};

template <class Id>
constexpr std::uint32_t index(Id id) {
  return static_cast<std::uint32_t>(id);
}

}  // namespace tidemark
