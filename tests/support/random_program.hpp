#pragma once
// Random programs, the same on every machine: the standard fixes what mt19937 draws, and no
// standard distribution is used.

#include <algorithm>
#include <random>
#include <vector>

#include "graph/program.hpp"
#include "tests/support/program_builder.hpp"

namespace tidemark::test {

class Random {
 public:
  explicit Random(std::uint32_t seed) : engine_(seed) {}
  // From `low` to `high`, both included.
  std::int64_t between(std::int64_t low, std::int64_t high) {
    const auto range = static_cast<std::uint64_t>(high - low + 1);
    const std::uint64_t drawn = (std::uint64_t{engine_()} << 32) | engine_();
    return low + static_cast<std::int64_t>(drawn % range);
  }
  bool one_in(std::int64_t n) { return between(1, n) == 1; }

 private:
  std::mt19937 engine_;
};

struct RandomProgramShape {
  std::int64_t instances = 8;
  std::int64_t buffers = 12;
  std::int64_t streams = 4;            // of all, drawn anew for each program
  std::int64_t longest = 6;            // picoseconds of fixed time
  std::int64_t most_bytes = 12;        // of a transfer and of a buffer
  std::int64_t dependencies = 2;       // at most, per instance
  std::int64_t reach = 1'000'000;      // dependencies go back no further than this
  std::int64_t uses = 3;               // at most, per instance
  std::int64_t use_reach = 2;  // buffers are used only this near to "their" instance
  std::int64_t issue = 0;              // picoseconds of the host, at most, per compute instance
  bool limited = true;                 // capacities near what is needed
};

// Some paths over some links of about 1 B/ps.
inline std::vector<PathId> add_random_paths(ProgramBuilder& builder, Random& random) {
  constexpr std::int64_t kBytePerPicosecond = 1'000'000'000'000;
  for (int link = 0; link < kLinkCount; ++link) {
    builder.link(static_cast<LinkKind>(link),
                 Bandwidth(random.between(kBytePerPicosecond / 7, 3 * kBytePerPicosecond)));
  }
  std::vector<PathId> paths;
  for (std::int64_t left = random.between(1, 5); left > 0; --left) {
    const auto pick = [&] { return static_cast<LinkKind>(random.between(0, kLinkCount - 1)); };
    const LinkKind first = pick();
    const LinkKind second = pick();
    const int weight = static_cast<int>(random.between(1, 3));
    const Bandwidth cap(
        random.one_in(3) ? random.between(kBytePerPicosecond / 9, kBytePerPicosecond) : 0);
    paths.push_back(first == second ? builder.path({{first, weight}}, cap)
                                    : builder.path({{first, weight}, {second, 1}}, cap));
  }
  return paths;
}

inline Program random_program(std::uint32_t seed, const RandomProgramShape& shape) {
  Random random(seed);
  ProgramBuilder builder;
  const std::vector<PathId> paths = add_random_paths(builder, random);

  std::array<std::int64_t, kTierCount> total{};
  for (std::int64_t b = 0; b < shape.buffers; ++b) {
    const Tier tier = random.one_in(3) ? static_cast<Tier>(random.between(1, 2)) : Tier::kHbm;
    const BufferId id =
        builder.buffer(Bytes(random.between(0, shape.most_bytes)), tier,
                       static_cast<Category>(random.between(0, kCategoryCount - 1)));
    builder.edit(id).initial = random.one_in(8);
    builder.edit(id).persistent = random.one_in(8);
    total[static_cast<std::size_t>(tier)] += builder.edit(id).bytes.count;
  }
  for (int tier = 0; tier < kTierCount; ++tier) {
    const std::int64_t all = total[static_cast<std::size_t>(tier)];
    builder.capacity(static_cast<Tier>(tier),
                     Bytes(shape.limited ? random.between(all / 2, all) : all));
  }

  std::vector<Stream> streams = {Stream::kCompute};
  while (static_cast<std::int64_t>(streams.size()) < shape.streams) {
    streams.push_back(static_cast<Stream>(random.between(0, kStreamCount - 1)));
  }
  const auto pick = [&](std::vector<std::int64_t>& drawn, std::int64_t most, std::int64_t low,
                        std::int64_t high) {
    for (std::int64_t left = random.between(0, most); left > 0 && low <= high; --left) {
      const std::int64_t i = random.between(low, high);
      if (std::ranges::find(drawn, i) == drawn.end()) drawn.push_back(i);
    }
  };
  for (std::int64_t i = 0; i < shape.instances; ++i) {
    std::vector<std::int64_t> drawn;
    pick(drawn, shape.dependencies, std::max<std::int64_t>(0, i - shape.reach), i - 1);
    std::vector<InstanceId> dependencies;
    for (const std::int64_t d : drawn)
      dependencies.push_back(InstanceId(static_cast<std::uint32_t>(d)));
    drawn.clear();
    const std::int64_t own = i * shape.buffers / shape.instances;
    pick(drawn, shape.uses, std::max<std::int64_t>(0, own - shape.use_reach),
         std::min(shape.buffers - 1, own + shape.use_reach));
    std::vector<BufferId> uses;
    for (const std::int64_t b : drawn) uses.push_back(BufferId(static_cast<std::uint32_t>(b)));

    const Stream stream = streams[static_cast<std::size_t>(
        random.between(0, static_cast<std::int64_t>(streams.size()) - 1))];
    const SimTime fixed(random.one_in(4) ? 0 : random.between(0, shape.longest));
    const bool moves = stream != Stream::kCompute && !random.one_in(4);
    if (moves) {
      const PathId path = paths[static_cast<std::size_t>(
          random.between(0, static_cast<std::int64_t>(paths.size()) - 1))];
      builder.move(stream, path, Bytes(random.between(0, shape.most_bytes)), dependencies, uses,
                   fixed);
    } else {
      const InstanceId id =
          builder.add(stream, fixed, dependencies, uses, static_cast<Phase>(random.between(0, 3)));
      // Without it nothing is drawn, so that programs stay what they were.
      const bool issues = shape.issue > 0 && stream == Stream::kCompute;
      if (issues) builder.edit(id).issue = SimTime(random.between(0, shape.issue));
    }
  }
  return builder.build();
}

}  // namespace tidemark::test
