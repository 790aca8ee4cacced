// The test runner's main function, compiled once. SINTER_TEST_DEVICE ("cpu", "cuda:0") picks the device of the whole
// suite; a machine without it fails here, in one line.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstdlib>
#include <iostream>

#include "sinter/device.hpp"
#include "sinter/error.hpp"

int main(int argc, char** argv) {
  const char* device = std::getenv("SINTER_TEST_DEVICE");
  if (device && *device) {
    try {
      sinter::set_default_device(device);
    } catch (const sinter::error& e) {
      std::cerr << "SINTER_TEST_DEVICE: " << e.what() << '\n';
      return 1;
    }
  }
  return doctest::Context(argc, argv).run();
}
