#include "graph/remat/rotor.hpp"

#include <algorithm>
#include <cmath>

#include "graph/remat/ask_again.hpp"
#include "graph/remat/rotor_table.hpp"

namespace tidemark::remat {

namespace {

class Schedule {
 public:
  Schedule(const Problem& problem, const RotorInput& input, const RotorTable& table)
      : problem_(problem), input_(input), table_(table), writer_(problem, input.chain) {}

  Sequence write() && {
    interval(0, input_.places.size() - 1, table_.units());
    return std::move(writer_).finish();
  }

 private:
  using Move = RotorTable::Move;

  void run(std::size_t first, std::size_t behind) {
    for (std::size_t s = first; s < std::min(behind, input_.chain.size()); ++s) writer_.forward(s);
  }

  void undo(std::size_t first, std::size_t branch, bool keeps) {
    if (first == input_.chain.size()) return writer_.epilogue();
    const RotorInput::Branch& b = input_.places[first].branches[branch];
    const bool part = b.stages == 1;
    const Chain& chain = part ? input_.chain : input_.blocks;
    const ChainModel& model = part ? input_.model : input_.block_model;
    const std::size_t stage = part ? first : input_.block_at[first];
    std::vector<TensorIndex> kept;
    if (keeps) kept = kept_by(problem_, chain, model, stage, b.option);
    writer_.backward(chain[stage], kept);
  }

  void interval(std::size_t first, std::size_t last, std::size_t units) {
    const Move move = table_.best(first, last, units);
    if (move.kind != Move::Kind::kLazily) run(first, move.next);
    switch (move.kind) {
      case Move::Kind::kKeep:
        interval(move.next, last, units - move.bytes);
        undo(first, move.branch, true);
        break;
      case Move::Kind::kKeepLast:
        undo(first, move.branch, true);
        break;
      case Move::Kind::kLazily:
        undo(first, move.branch, false);
        break;
      case Move::Kind::kSkip:
        interval(move.next, last, units - move.bytes);
        interval(first, move.next - 1, units);
        break;
    }
  }

  const Problem& problem_;
  const RotorInput& input_;
  const RotorTable& table_;
  ChainWriter writer_;
};

}  // namespace

std::optional<ScheduleChoice> rotor(const Problem& problem, const RotorInput& input,
                                    std::int64_t budget, std::size_t levels) {
  const std::int64_t room = budget - input.model.prologue_bytes;
  if (room < 0 || budget < input.model.rest_need || input.chain.empty()) return {};
  const std::size_t last = input.places.size() - 1;
  const RotorTable table(input, room, levels, true);
  ScheduleChoice choice;
  choice.planned = static_cast<double>(table.value(0, last, table.units()));
  if (std::isinf(choice.planned)) return {};
  choice.at_least = choice.planned;
  if (!table.exact()) {
    const RotorTable down(input, room, levels, false);
    choice.at_least = static_cast<double>(down.value(0, last, down.units()));
  }
  choice.sequence = Schedule(problem, input, table).write();
  return choice;
}

std::optional<ScheduleChoice> rotor_within(const Problem& problem, const RotorInput& input,
                                           std::int64_t budget, std::size_t levels) {
  std::optional<double> at_least;  // of the budget itself
  auto choice = within_budget(
      problem, budget,
      [&](std::int64_t asked) {
        auto found = rotor(problem, input, asked, levels);
        if (found && !at_least) at_least = found->at_least;
        return found;
      },
      [](const ScheduleChoice& found) -> const Sequence& { return found.sequence; });
  if (choice) choice->at_least = *at_least;
  return choice;
}

}  // namespace tidemark::remat
