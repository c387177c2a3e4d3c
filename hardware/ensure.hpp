#pragma once
// A broken invariant is an InternalError: not the user's fault, exit status 3, asks for the
// scenario.

#include <stdexcept>
#include <string>

namespace tidemark {

struct InternalError : std::logic_error {
  using std::logic_error::logic_error;
};

// States in words what should hold.
inline void ensure(bool condition, const char* what_should_hold) {
  if (!condition) throw InternalError(what_should_hold);
}

}  // namespace tidemark
