#pragma once

#include <stdexcept>

namespace tidemark::tools {

// What the user asked for cannot be done, for a reason without a place in a scenario file: exit
// status 2. The text is one line that stands after "error: ".
struct UserError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace tidemark::tools
