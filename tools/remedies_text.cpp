#include <fmt/format.h>

#include <algorithm>

#include "hardware/quantity.hpp"
#include "tools/remedies.hpp"
#include "tools/text_table.hpp"
#include "tools/told_apart.hpp"
#include "tools/wording.hpp"

namespace tidemark::tools {
namespace {

constexpr std::size_t kMostAnswers = 8;  // of one length; the JSON has all

std::string signed_bytes(Bytes bytes) {
  return bytes.count < 0 ? "-" + format_bytes(Bytes(-bytes.count)) : format_bytes(bytes);
}

std::string signed_time(SimTime time) {
  if (time.count() == 0) return "0 s";
  return (time.count() < 0 ? "-" : "+") + format_time(SimTime(std::abs(time.count())));
}

std::string share(SimTime part, SimTime whole) {
  if (whole.count() == 0) return "";
  return fmt::format("{:+.1f} %", 100 * seconds(part) / seconds(whole));
}

std::string joined(const std::vector<std::string>& parts, const char* between) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : between) + part;
  return text;
}

void append_wrapped(std::string& out, const std::string& text, const std::string& indent,
                    std::size_t width) {
  for (const std::string& line : wrap(text, width - indent.size())) out += indent + line + '\n';
}

void append_answer(std::string& out, const Remedy& answer, const Remedies& all, std::size_t width) {
  for (const std::string& line : as_yaml(answer.changes)) out += "  " + line + '\n';
  std::vector<std::string> words;
  for (const Change& change : answer.changes) words.push_back(change.words);
  append_wrapped(out, joined(words, "; "), "      ", width);
  const auto [peak, capacity] = told_apart(answer.peak, all.capacity);
  append_wrapped(out,
                 fmt::format("{} {} of {}, step {} ({}, {}){}", spoken(all.tier), peak, capacity,
                             format_time(answer.step_time), signed_time(answer.costs),
                             share(answer.costs, all.step_time),
                             answer.alters_training() ? "; trains differently" : ""),
                 "      ", width);
}

std::string headline(const Remedies& remedies) {
  if (remedies.answers.empty()) {
    std::string nothing = "nothing that was tried makes it fit";
    if (remedies.left_out > 0) {
      nothing += fmt::format(", but {} combinations were not tried", remedies.left_out);
    }
    return nothing;
  }
  const Remedy& first = remedies.answers.front();
  if (first.changes.size() == 1 && !first.alters_training()) {
    return "any one of these changes makes it fit, cheapest first";
  }
  if (first.alters_training()) return "only changes that train differently make it fit";
  return fmt::format(
      "no single change {}makes it fit; any of these {} does, cheapest first",
      std::ranges::any_of(remedies.answers, [](const Remedy& r) { return r.changes.size() == 1; })
          ? "that trains the same way "
          : "",
      first.changes.size() == 2   ? "pairs"
      : first.changes.size() == 3 ? "triples"
                                  : "sets");
}

// "no: host" where it is another tier that it then is short of.
std::string fits_text(const Remedy& remedy, Tier tier) {
  if (remedy.fits) return "yes";
  if (!remedy.short_of || *remedy.short_of == tier) return "no";
  return fmt::format("no: {}", spoken(*remedy.short_of));
}

// Each change alone, those without any difference in one line.
void append_table(std::string& out, const Remedies& remedies, std::size_t width) {
  TextTable table({{"each change alone", Align::kLeft, 44},
                   {fmt::format("{} peak", spoken(remedies.tier))},
                   {"saves"},
                   {"fits", Align::kLeft},
                   {"step"},
                   {"costs"}});
  std::vector<std::string> idle;
  for (const Remedy& single : remedies.alone) {
    std::string yaml = joined(as_yaml(single.changes), "; ");
    for (const Change& each : single.changes) {
      if (!each.instead.empty()) yaml += fmt::format(" (was {})", each.instead);
    }
    if (!single.differs) {
      idle.push_back(yaml);
      continue;
    }
    table.add_row({yaml + (single.alters_training() ? " *" : ""), format_bytes(single.peak),
                   signed_bytes(single.saves), fits_text(single, remedies.tier),
                   format_time(single.step_time), share(single.costs, remedies.step_time)});
  }
  out += table.render(width);
  const auto altered = [](const Remedy& r) { return r.alters_training() && r.differs; };
  if (std::ranges::any_of(remedies.alone, altered)) out += "* trains differently\n";
  if (!idle.empty()) append_wrapped(out, "no difference: " + joined(idle, "; "), "", width);
}

}  // namespace

std::string remedies_text(std::string_view run, const Remedies& remedies, std::size_t width) {
  std::string out;
  const auto [needed, capacity] = told_apart(remedies.needed, remedies.capacity);
  append_wrapped(out,
                 fmt::format("{}: {} needs {} of {}, the step takes {} with enough; {}", run,
                             spoken(remedies.tier), needed, capacity,
                             format_time(remedies.step_time), headline(remedies)),
                 "", width);
  std::size_t listed = 0;
  for (const Remedy& answer : remedies.answers) {
    if (++listed > kMostAnswers) break;
    append_answer(out, answer, remedies, width);
  }
  if (remedies.answers.size() > kMostAnswers) {
    out +=
        fmt::format("  and {} more (--json lists them)\n", remedies.answers.size() - kMostAnswers);
  }
  if (remedies.faster) {
    append_wrapped(
        out,
        fmt::format("faster: the first with one change more, the best of {} that were tried",
                    remedies.additions),
        "", width);
    append_answer(out, *remedies.faster, remedies, width);
  }
  out += '\n';
  append_table(out, remedies, width);
  std::string tried = fmt::format("simulated: {} single changes", remedies.alone.size());
  if (remedies.pairs > 0) tried += fmt::format(", {} pairs", remedies.pairs);
  if (remedies.triples > 0) tried += fmt::format(", {} triples", remedies.triples);
  if (remedies.grown > 0) tried += fmt::format(", {} sets grown from the least", remedies.grown);
  if (remedies.additions > 0) {
    tried += fmt::format(", {} additions to the first answer", remedies.additions);
  }
  if (remedies.left_out > 0) tried += fmt::format("; left out: {}", remedies.left_out);
  return out + tried + '\n';
}

}  // namespace tidemark::tools
