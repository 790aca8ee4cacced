// sinter-info: prints what the library finds on this machine.
#include <cstring>
#include <exception>
#include <iostream>

#include "sinter/info.hpp"

int main(int count, char** arguments) {
  try {
    if (count > 1 && std::strcmp(arguments[1], "--version") == 0) {
      std::cout << sinter::version() << '\n';
    } else if (count > 1) {
      std::cerr << "sinter-info shows what the library finds on this machine.\n"
                   "  sinter-info            all of it\n"
                   "  sinter-info --version  the version alone\n";
      return std::strcmp(arguments[1], "--help") == 0 ? 0 : 2;
    } else {
      std::cout << sinter::show_config();
    }
  } catch (const std::exception& e) {
    std::cerr << "sinter-info: " << e.what() << '\n';
    return 1;
  }
  return std::cout.flush() ? 0 : 1;
}
