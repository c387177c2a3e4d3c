#include <algorithm>
#include <map>

#include "graph/remat/rotor.hpp"

namespace tidemark::remat {

namespace {

RotorInput::Branch branch(const StageOption& option, std::size_t stages, std::uint32_t number,
                          std::int64_t held) {
  return {.stages = stages,
          .bytes = option.bytes,
          .cost = option.cost,
          .forward_need = option.forward_need,
          .backward_need = option.backward_need + held,
          .option = number};
}

RotorInput without_branches(const Problem& problem, const Chain& chain) {
  RotorInput input;
  input.chain = chain;
  input.model = model_of(problem, chain);
  for (std::size_t s = 0; s < chain.size(); ++s) {
    const StageModel& model = input.model.of(s);
    input.places.push_back({.branches = {},
                            .output_bytes = model.output_bytes,
                            .pending_bytes = model.gradient_bytes + input.model.held[s],
                            .forward_cost = model.forward_cost,
                            .tail_cost = model.tail_cost,
                            .forward_need = model.forward_need,
                            .passing_need = model.passing_need});
  }
  return input;
}

// Puts the epilogue behind the stages. Places are the same when all that the table reads is.
void finish(RotorInput& input) {
  RotorInput::Place epilogue;
  epilogue.branches.push_back({.backward_need = input.model.epilogue_need});
  input.places.push_back(epilogue);
  std::map<std::vector<std::int64_t>, std::uint32_t> shapes, last_shapes;
  const auto number = [](auto& known, std::vector<std::int64_t> key) {
    const auto next = static_cast<std::uint32_t>(known.size());
    return known.try_emplace(std::move(key), next).first->second;
  };
  for (RotorInput::Place& place : input.places) {
    std::vector<std::int64_t> key = {place.output_bytes, place.pending_bytes, place.forward_cost,
                                     place.tail_cost,    place.forward_need,  place.passing_need};
    std::vector<std::int64_t> last_key = {place.pending_bytes};
    for (const RotorInput::Branch& b : place.branches) {
      key.insert(key.end(), {static_cast<std::int64_t>(b.stages), std::int64_t{b.option}, b.bytes,
                             b.cost, b.forward_need, b.backward_need});
      if (b.stages == 1) {
        last_key.insert(last_key.end(), {b.cost, b.forward_need, b.backward_need});
      }
    }
    place.shape = number(shapes, std::move(key));
    place.last_shape = number(last_shapes, std::move(last_key));
  }
}

}  // namespace

RotorInput rotor_input(const Problem& problem, const Chain& chain) {
  RotorInput input = without_branches(problem, chain);
  for (std::size_t s = 0; s < chain.size(); ++s) {
    input.places[s].branches.push_back(
        branch(input.model.of(s).options.front(), 1, 0, input.model.held[s]));
  }
  finish(input);
  return input;
}

RotorInput rotor_plus_input(const Problem& problem, const Chain& parts, const Chain& blocks) {
  RotorInput input = without_branches(problem, parts);
  const auto add = [&](std::size_t at, const StageModel& model, std::size_t stages,
                       std::int64_t held) {
    for (std::uint32_t o = 0; o < model.options.size(); ++o) {
      input.places[at].branches.push_back(branch(model.options[o], stages, o, held));
    }
  };
  for (std::size_t s = 0; s < parts.size(); ++s) add(s, input.model.of(s), 1, input.model.held[s]);
  input.blocks = blocks;
  input.block_model = model_of(problem, blocks);
  input.block_at.assign(parts.size(), 0);
  std::size_t s = 0;
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    const std::size_t first = s;
    while (s < parts.size() && parts[s].forward_begin < blocks[b].forward_end) ++s;
    input.block_at[first] = b;
    if (s - first > 1) add(first, input.block_model.of(b), s - first, input.block_model.held[b]);
  }
  finish(input);
  return input;
}

}  // namespace tidemark::remat
