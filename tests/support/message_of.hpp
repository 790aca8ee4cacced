// The error message of a failing call.
#pragma once
#include <doctest/doctest.h>

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

/// Checks that f throws an Error that says this.
template <class Error, class F>
void refuses(F&& f, const std::string& says) {
  try {
    f();
    FAIL_CHECK("nothing was thrown, but should have been: ", says);
  } catch (const Error& e) {
    const std::string text = e.what();
    CHECK_MESSAGE(text.find(says) != std::string::npos, text, " should say: ", says);
  }
}

}  // namespace sinter_test
