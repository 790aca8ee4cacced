// Replaces a profiler: NVTX loads this library and calls it for each range; it writes "push NAME" and "pop" to the
// file that SINTER_NVTX_LOG names.
#include <nvtx3/nvToolsExt.h>

#include <cstdio>
#include <cstdlib>

namespace {

std::FILE* log_file() {
  static std::FILE* const file = [] {
    const char* path = std::getenv("SINTER_NVTX_LOG");
    return path ? std::fopen(path, "w") : nullptr;
  }();
  return file;
}

int NVTX_API push(const char* name) {
  if (std::FILE* f = log_file()) {
    std::fprintf(f, "push %s\n", name);
    std::fflush(f);
  }
  return 0;
}

int NVTX_API pop() {
  if (std::FILE* f = log_file()) {
    std::fprintf(f, "pop\n");
    std::fflush(f);
  }
  return 0;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtx2(
    NvtxGetExportTableFunc_t get_export_table) {
  const auto* callbacks = static_cast<const NvtxExportTableCallbacks*>(get_export_table(NVTX_ETID_CALLBACKS));
  NvtxFunctionTable table = nullptr;
  unsigned int size = 0;
  if (!callbacks || !callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE, &table, &size) ||
      size <= NVTX_CBID_CORE_RangePop)
    return 0;
  *table[NVTX_CBID_CORE_RangePushA] = reinterpret_cast<NvtxFunctionPointer>(push);
  *table[NVTX_CBID_CORE_RangePop] = reinterpret_cast<NvtxFunctionPointer>(pop);
  return 1;
}
