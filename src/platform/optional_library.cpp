// Where optional libraries are searched for.
#include "platform/optional_library.hpp"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "platform/files.hpp"
#include "sinter/error.hpp"

#ifndef SINTER_CUDA_LIBRARY_DIR
#define SINTER_CUDA_LIBRARY_DIR ""
#endif

namespace sinter::platform {
namespace {

void add_folders(std::vector<std::string>& folders, const std::string& list, const std::string& below) {
  for (std::size_t at = 0; at < list.size();) {
    const std::size_t end = std::min(list.find(':', at), list.size());
    if (end > at) folders.push_back(list.substr(at, end - at) + below);
    at = end + 1;
  }
}

}  // namespace

library_place toolkit_library(std::string title, std::vector<std::string> sonames) {
  library_place place{std::move(title), std::move(sonames), {}, "it is part of the CUDA toolkit"};
  add_folders(place.folders, environment("LD_LIBRARY_PATH"), "");
  add_folders(place.folders, SINTER_CUDA_LIBRARY_DIR, "");
  for (const char* variable : {"CUDA_PATH", "CUDA_HOME"}) add_folders(place.folders, environment(variable), "/lib64");
  place.folders.emplace_back("/usr/local/cuda/lib64");
  place.folders.emplace_back("/usr/lib/x86_64-linux-gnu");
  return place;
}

library_place host_library(std::string title, std::vector<std::string> sonames, const std::string& package) {
  library_place place{std::move(title), std::move(sonames), {}, "install " + package};
  add_folders(place.folders, environment("LD_LIBRARY_PATH"), "");
  return place;
}

std::vector<std::string> candidates(const library_place& place) {
  std::vector<std::string> result;
  for (const std::string& name : place.sonames) {
    for (const std::string& folder : place.folders) {
      std::string path = folder + "/" + name;
      if (::access(path.c_str(), R_OK) == 0) result.push_back(std::move(path));
    }
  }
  result.insert(result.end(), place.sonames.begin(), place.sonames.end());
  return result;
}

void raise_unusable(const char* function, const library_place& place, const std::string& tried) {
  throw device_error("[" + std::string(function) + "] " + place.title + " cannot be loaded (" + place.remedy +
                     "); tried " + tried);
}

}  // namespace sinter::platform
