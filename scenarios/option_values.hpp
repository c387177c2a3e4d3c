#pragma once
// The values of one section, read from its mapping by its table, defaults filled in.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/option.hpp"
#include "hardware/units.hpp"
#include "scenarios/reader.hpp"

namespace tidemark::scenarios {

class OptionValues {
 public:
  // Reports bad values; they, and what is neither stated nor has a default, read as absent.
  OptionValues(Reader& reader, std::span<const OptionSpec> options);

  bool has(std::string_view name) const { return slot(name).present; }
  bool stated(std::string_view name) const { return slot(name).stated; }     // written by the user
  const Mark& mark(std::string_view name) const { return slot(name).mark; }  // of a stated value

  // 0, "" and the first choice where absent.
  std::int64_t integer(std::string_view name) const { return slot(name).value.integer; }
  double number(std::string_view name) const { return slot(name).value.number; }
  const std::string& text(std::string_view name) const { return slot(name).value.text; }
  const std::vector<std::string>& names(std::string_view name) const {
    return slot(name).value.names;
  }
  const OptionValue& value(std::string_view name) const { return slot(name).value; }
  bool flag(std::string_view name) const { return integer(name) != 0; }
  template <class Enum>
  Enum choice(std::string_view name) const {
    return static_cast<Enum>(integer(name));
  }

  // Replaces `target` where the option is present.
  void update(std::string_view name, std::int64_t& target) const;
  void update(std::string_view name, double& target) const;
  void update(std::string_view name, SimTime& target) const;
  template <class Tag>
  void update(std::string_view name, Quantity<Tag>& target) const {
    update(name, target.count);
  }

 private:
  struct Slot {
    std::string_view name;
    bool present = false;
    bool stated = false;
    OptionValue value;
    Mark mark;
  };
  const Slot& slot(std::string_view name) const;

  std::vector<Slot> slots_;
};

}  // namespace tidemark::scenarios
