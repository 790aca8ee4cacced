// The error message of a failing call.
#pragma once
#include <string>

namespace sinter_test {

/// The message of the Error that f throws; other exceptions propagate.
template <class Error, class F>
std::string message_of(F&& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "nothing was thrown";
}

}  // namespace sinter_test
