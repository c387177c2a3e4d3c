#pragma once
// What would make a run fit: changes from tools/changes.hpp, each one simulated, never guessed.
//
// First every change alone. Where none that trains the same way fits, pairs; then, for a step that
// is quick to simulate, triples. Of pairs and triples those are simulated first whose savings,
// phase by phase, promise the lowest peak. Where none of these fits either, the set that needs
// least is grown: by the change that then leaves least, until it fits or nothing helps. A change
// that alone made no difference is in none. Where steps are long, or each run searches for a plan,
// what is past a bound of all operations simulated is left out, and counted. To the fastest that fits one more is added: what alone
// saves time, or gives memory back that it left.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hardware/machine.hpp"
#include "hardware/units.hpp"
#include "scenarios/scenario.hpp"
#include "tools/changes.hpp"

namespace tidemark::tools {

struct Report;

// Per run that does not fit: at most 64 single changes, 80 pairs and 40 triples are simulated, and
// 64 more for each change that a set is grown by.
inline constexpr std::size_t kMostSingles = 64;
inline constexpr std::size_t kMostPairs = 80;
inline constexpr std::size_t kMostTriples = 40;
inline constexpr std::size_t kMostChanges = 6;                 // of a set that is grown
inline constexpr std::size_t kMostAdditions = 24;              // to the fastest that fits
inline constexpr std::int64_t kMostRowsForTriples = 50'000;    // operations and transfers of a step
inline constexpr std::int64_t kMostRowsOfAChange = 1'000'000;  // longer steps are left out
// Of all that is simulated, searches for plans included: ten to twenty seconds on two cores.
inline constexpr std::int64_t kMostRowsInAll = 60'000'000;

// Operations and transfers in all steps that are simulated for a run. How often a search simulates
// is what its file says of it (tools/hybrid_search, placement_search, hidden_moves), about.
std::int64_t rows_simulated(const scenarios::RunSpec& run);

struct Remedy {
  std::vector<Change> changes;
  bool fits = false;
  Bytes peak;                    // in the tier that the run is short of, first step included
  Bytes saves;                   // against the run as it is; may be negative
  SimTime step_time{};           // without limits where it does not fit
  SimTime costs{};               // step time against that of the run as it is without limits
  std::optional<Tier> short_of;  // where it does not fit
  bool differs = false;          // from the run as it is, in a phase's peak or in time

  bool alters_training() const;
};

struct Remedies {
  Tier tier{};  // that the run is short of
  Bytes capacity;
  Bytes needed;
  SimTime step_time{};          // of the run as it is, without limits
  std::vector<Remedy> alone;    // each change alone, those that save most first
  std::vector<Remedy> answers;  // fit: fewest changes first, same training first, then by time
  // The fastest of the first of `answers` with one change more; nothing: none is faster and fits.
  std::optional<Remedy> faster;
  std::size_t simulations = 0;
  std::size_t additions = 0;  // simulated
  std::size_t pairs = 0;      // simulated
  std::size_t triples = 0;
  std::size_t grown = 0;     // sets that were made of the one that needed least
  std::size_t left_out = 0;  // pairs and triples beyond the bound, changes that make long steps
};

using SimulateAll = std::function<std::vector<Report>(std::span<const scenarios::RunSpec>)>;

// `report` is the run's own; it fits: nothing. `simulate_all` is evaluate_all or what stands for
// it.
std::optional<Remedies> find_remedies(const scenarios::RunSpec& run, const Report& report,
                                      const SimulateAll& simulate_all);

// For people: the answers, then a table of every change alone. Lines of at most `width`; the first
// begins with the name of the run.
std::string remedies_text(std::string_view run, const Remedies& remedies, std::size_t width);

}  // namespace tidemark::tools
