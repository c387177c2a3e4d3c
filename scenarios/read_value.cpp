#include <algorithm>
#include <string>
#include <vector>

#include "hardware/decimal.hpp"
#include "hardware/quantity.hpp"
#include "scenarios/reader.hpp"
#include "scenarios/suggest.hpp"

namespace tidemark::scenarios {
namespace {

// Reports what is wrong with one value of one option.
struct Complaint {
  const Value& value;
  const OptionSpec& spec;
  Diagnostics& diagnostics;

  std::nullopt_t operator()(const std::string& message, std::string hint = {}) const {
    diagnostics.error(value.mark, std::string(spec.name) + ": " + message, std::move(hint));
    return std::nullopt;
  }
};

std::string number_text(double number) {
  std::string text = std::to_string(number);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

const char* expected(OptionKind kind) {
  switch (kind) {
    case OptionKind::kInteger:
      return "expected a whole number";
    case OptionKind::kNumber:
      return "expected a number";
    case OptionKind::kFlag:
      return "expected true or false";
    case OptionKind::kChoice:
      return "expected one word";
    case OptionKind::kNames:
      return "expected a list of words";
    case OptionKind::kText:
      return "expected text";
    case OptionKind::kBytes:
      return "expected a size such as 80 GiB";
    case OptionKind::kBandwidth:
      return "expected a bandwidth such as 26 GB/s";
    case OptionKind::kFlopRate:
      return "expected a speed such as 312 TFLOP/s";
    case OptionKind::kTime:
      return "expected a time such as 5 us";
    case OptionKind::kFrequency:
      return "expected a frequency such as 2.45 GHz";
    case OptionKind::kSection:
      return "expected a mapping";
  }
  return "";
}

// A quantity or a count that was parsed, held against the limits of the option.
std::optional<OptionValue> within(std::int64_t count, const std::string& least,
                                  const std::string& most, const Complaint& complain) {
  if (count < complain.spec.least) return complain("must be at least " + least);
  if (count > complain.spec.most) return complain("must be at most " + most);
  return OptionValue{count, 0, complain.value.text, {}};
}

template <class T>
std::int64_t count_of(const T& quantity) {
  if constexpr (requires { quantity.count(); }) {
    return quantity.count();
  } else if constexpr (requires { quantity.count; }) {
    return quantity.count;
  } else {
    return quantity;
  }
}

template <class T>
std::optional<OptionValue> read_quantity(const Parsed<T>& parsed, const Complaint& complain) {
  if (!parsed.value) return complain(parsed.reason);
  return within(count_of(*parsed.value), exact_text(T(complain.spec.least)),
                exact_text(T(complain.spec.most)), complain);
}

std::optional<OptionValue> read_integer(const Complaint& complain) {
  const std::string& text = complain.value.text;
  const bool negative =
      text.size() > 1 && text[0] == '-' &&
      std::ranges::all_of(text.substr(1), [](char c) { return '0' <= c && c <= '9'; });
  if (negative) return complain("must be at least " + std::to_string(complain.spec.least));
  const Parsed<std::int64_t> parsed = parse_count(text);
  if (!parsed.value) return complain(parsed.reason);
  return within(*parsed.value, std::to_string(complain.spec.least),
                std::to_string(complain.spec.most), complain);
}

std::optional<OptionValue> read_number(const Complaint& complain) {
  const Parsed<double> parsed = parse_fraction(complain.value.text);
  if (!parsed.value) return complain(parsed.reason);
  const OptionSpec& spec = complain.spec;
  if (*parsed.value < spec.least_number || *parsed.value > spec.most_number) {
    return complain("must be from " + number_text(spec.least_number) + " to " +
                    number_text(spec.most_number));
  }
  return OptionValue{0, *parsed.value, complain.value.text, {}};
}

std::optional<OptionValue> read_choice(const Complaint& complain) {
  const auto& choices = complain.spec.choices;
  const auto found = std::ranges::find(choices, complain.value.text);
  if (found != choices.end()) {
    return OptionValue{found - choices.begin(), 0, complain.value.text, {}};
  }
  complain.diagnostics.error(
      complain.value.mark,
      "unknown " + std::string(complain.spec.name) + " " + in_quotes(complain.value.text),
      suggestion(complain.value.text, choices));
  return std::nullopt;
}

// A list of choices without repeats, or one of them alone.
std::optional<OptionValue> read_names(const Complaint& complain) {
  const Value& value = complain.value;
  if (value.kind != Value::Kind::kSequence && !value.is_scalar()) {
    return complain(std::string(expected(OptionKind::kNames)) + ", found " + describe(value));
  }
  OptionValue read;
  bool whole = true;
  const auto add = [&](const Value& item) {
    if (!item.is_scalar()) {
      complain.diagnostics.error(item.mark, std::string(complain.spec.name) +
                                                ": expected one word, found " + describe(item));
      whole = false;
      return;
    }
    const auto choice = read_choice({item, complain.spec, complain.diagnostics});
    whole = whole && choice.has_value();
    if (!choice) return;
    if (std::ranges::find(read.names, choice->text) != read.names.end()) {
      complain.diagnostics.error(item.mark, std::string(complain.spec.name) + ": " +
                                                in_quotes(choice->text) + " stands twice");
      whole = false;
    }
    read.names.push_back(choice->text);
  };
  if (value.is_scalar()) {
    add(value);
  } else {
    for (const Value& item : value.items) add(item);
  }
  if (!whole) return std::nullopt;
  return read;
}

}  // namespace

std::optional<OptionValue> read_value(const Value& value, const OptionSpec& spec,
                                      Diagnostics& diagnostics) {
  const Complaint complain{value, spec, diagnostics};
  const bool number_like = spec.kind == OptionKind::kInteger || spec.kind == OptionKind::kNumber ||
                           spec.kind == OptionKind::kFlag;
  if (spec.kind == OptionKind::kNames) return read_names(complain);
  if (!value.is_scalar()) {
    return complain(std::string(expected(spec.kind)) + ", found " + describe(value));
  }
  if (value.quoted && number_like) {
    return complain(std::string(expected(spec.kind)) + ", found text in quotes");
  }
  switch (spec.kind) {
    case OptionKind::kInteger:
      return read_integer(complain);
    case OptionKind::kNumber:
      return read_number(complain);
    case OptionKind::kChoice:
      return read_choice(complain);
    case OptionKind::kBytes:
      return read_quantity(parse_bytes(value.text), complain);
    case OptionKind::kBandwidth:
      return read_quantity(parse_bandwidth(value.text), complain);
    case OptionKind::kFlopRate:
      return read_quantity(parse_flop_rate(value.text), complain);
    case OptionKind::kTime:
      return read_quantity(parse_time(value.text), complain);
    case OptionKind::kFrequency:
      return read_quantity(parse_frequency(value.text), complain);
    case OptionKind::kText:
      return OptionValue{0, 0, value.text, {}};
    case OptionKind::kFlag:
      if (value.text == "true") return OptionValue{1, 0, value.text, {}};
      if (value.text == "false") return OptionValue{0, 0, value.text, {}};
      return complain("expected true or false, found " + in_quotes(value.text));
    case OptionKind::kNames:
    case OptionKind::kSection:
      break;
  }
  return complain("expected a mapping, found " + describe(value));
}

}  // namespace tidemark::scenarios
