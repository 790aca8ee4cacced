// Opening MPI, and its functions by each family's types.
#include "runtime/collectives/mpi_library.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "platform/host_libraries.hpp"
#include "runtime/collectives/mpi_families.hpp"
#include "sinter/error.hpp"

namespace sinter::runtime {
namespace {

template <class Family>
class library_of final : public mpi_library {
  using handle = typename Family::handle;
  using status = typename mpi_functions<Family>::status;

 public:
  library_of(Family constants, const mpi_functions<Family>& functions) : c_(constants), f_(functions) {}

  std::string version() override {
    char text[8192] = {};  // MPICH's list of options is long
    int length = 0;
    if (f_.get_version(text, &length) != 0) return "MPI";
    std::string all(text);
    if (all.rfind("MPICH Version:", 0) == 0) {
      const std::size_t from = all.find_first_not_of(" \t", 14);
      return "MPICH " + all.substr(from, all.find('\n') - from);
    }
    return all.substr(0, all.find_first_of(",\n"));
  }
  bool is_initialized() override {
    int flag = 0;
    return f_.initialized(&flag) == 0 && flag != 0;
  }
  bool is_finalized() override {
    int flag = 0;
    return f_.finalized(&flag) == 0 && flag != 0;
  }
  void initialize() override {
    int given = 0;
    check(f_.init_thread(nullptr, nullptr, 2, &given), "MPI_Init_thread");
  }
  void finalize() noexcept override { (void)f_.finalize(); }
  threads thread_level() override {
    int level = 0;
    check(f_.query_thread(&level), "MPI_Query_thread");
    return level <= 0 ? threads::single : level >= 3 ? threads::multiple : static_cast<threads>(level);
  }
  [[noreturn]] void abort(int code) noexcept override {
    (void)f_.abort(c_.world, code);
    std::_Exit(code);
  }

  mpi_handle world() override { return Family::number(c_.world); }
  mpi_handle duplicate(mpi_handle comm) override {
    handle result = c_.null_comm;
    check(f_.comm_dup(Family::of(comm), &result), "MPI_Comm_dup");
    return made(result);
  }
  mpi_handle split(mpi_handle comm, int color) override {
    handle result = c_.null_comm;
    check(f_.comm_split(Family::of(comm), color < 0 ? -32766 : color, 0, &result), "MPI_Comm_split");
    return made(result);
  }
  mpi_handle split_machine(mpi_handle comm) override {
    handle result = c_.null_comm;
    check(f_.comm_split_type(Family::of(comm), Family::shared_machine, 0, c_.null_info, &result),
          "MPI_Comm_split_type");
    return made(result);
  }
  void release(mpi_handle comm) noexcept override {
    handle h = Family::of(comm);
    (void)f_.comm_free(&h);
  }
  int rank(mpi_handle comm) override {
    int n = 0;
    check(f_.comm_rank(Family::of(comm), &n), "MPI_Comm_rank");
    return n;
  }
  int size(mpi_handle comm) override {
    int n = 0;
    check(f_.comm_size(Family::of(comm), &n), "MPI_Comm_size");
    return n;
  }

  mpi_handle send(mpi_handle comm, const void* from, int bytes, int to, int tag) override {
    return begun("MPI_Isend", [&](handle* r) { return f_.isend(from, bytes, c_.byte, to, tag, Family::of(comm), r); });
  }
  mpi_handle receive(mpi_handle comm, void* to, int bytes, int from, int tag) override {
    return begun("MPI_Irecv", [&](handle* r) { return f_.irecv(to, bytes, c_.byte, from, tag, Family::of(comm), r); });
  }
  mpi_handle barrier(mpi_handle comm) override {
    return begun("MPI_Ibarrier", [&](handle* r) { return f_.ibarrier(Family::of(comm), r); });
  }
  mpi_handle broadcast(mpi_handle comm, void* data, int bytes, int root) override {
    return begun("MPI_Ibcast", [&](handle* r) { return f_.ibcast(data, bytes, c_.byte, root, Family::of(comm), r); });
  }
  mpi_handle all_gather(mpi_handle comm, const void* from, int bytes, void* to, const int* sizes,
                        const int* offsets) override {
    return begun("MPI_Iallgatherv", [&](handle* r) {
      return f_.iallgatherv(from ? from : Family::in_place(), bytes, c_.byte, to, sizes, offsets, c_.byte,
                            Family::of(comm), r);
    });
  }
  mpi_handle all_to_all(mpi_handle comm, const void* from, const int* sizes, const int* offsets, void* to,
                        const int* to_sizes, const int* to_offsets) override {
    return begun("MPI_Ialltoallv", [&](handle* r) {
      return f_.ialltoallv(from, sizes, offsets, c_.byte, to, to_sizes, to_offsets, c_.byte, Family::of(comm), r);
    });
  }
  bool is_done(mpi_handle request, int expected) override {
    handle h = Family::of(request);
    status about{};
    int flag = 0, came = expected;
    check(f_.test(&h, &flag, &about), "MPI_Test");
    if (flag != 0 && expected >= 0) check(f_.get_count(&about, c_.byte, &came), "MPI_Get_count");
    if (came != expected)
      throw device_error("[MPI] " + std::to_string(came) + " bytes have come instead of " + std::to_string(expected));
    return flag != 0;
  }
  void cancel(mpi_handle request) noexcept override {
    handle h = Family::of(request);
    (void)f_.cancel(&h);
    (void)f_.request_free(&h);
  }
  bool take(mpi_handle comm, void* to, int bytes, int tag) override {
    int flag = 0;
    check(f_.iprobe(Family::any_source, tag, Family::of(comm), &flag, ignored()), "MPI_Iprobe");
    if (flag == 0) return false;
    check(f_.recv(to, bytes, c_.byte, Family::any_source, tag, Family::of(comm), ignored()), "MPI_Recv");
    return true;
  }

 private:
  static status* ignored() noexcept { return reinterpret_cast<status*>(Family::status_ignore); }
  mpi_handle made(handle comm) {
    if (comm == c_.null_comm) return 0;
    check(f_.comm_set_errhandler(comm, c_.errors_return), "MPI_Comm_set_errhandler");
    return Family::number(comm);
  }
  template <class Call>
  mpi_handle begun(const char* name, Call call) {
    handle r = c_.null_request;
    check(call(&r), name);
    return Family::number(r);
  }
  void check(int code, const char* call) {
    if (code == 0) return;
    char text[1024] = {};
    int length = 0;
    (void)f_.error_string(code, text, &length);
    throw device_error("[MPI] " + std::string(call) + ": " + text);
  }

  Family c_;
  mpi_functions<Family> f_;
};

template <class Family>
std::unique_ptr<mpi_library> resolve_as(const platform::dynamic_library& library, std::string& error) {
  Family constants;
  mpi_functions<Family> functions;
  if (!constants.resolve(library, error) || !functions.resolve(library, error)) return nullptr;
  return std::make_unique<library_of<Family>>(constants, functions);
}

/// Which family a library is of, by what it exports.
std::unique_ptr<mpi_library> resolve_any(const platform::dynamic_library& library, std::string& error) {
  if (library.symbol("ompi_mpi_comm_world")) return resolve_as<open_mpi>(library, error);
  if (library.symbol("MPIR_Err_return_comm") || library.symbol("MPIX_Comm_agree") || library.symbol("MPIR_Dup_fn"))
    return resolve_as<mpich>(library, error);
  error = "is neither Open MPI nor of MPICH's family, and types of others are not known here";
  return nullptr;
}

struct opened_mpi {
  platform::library_place place = mpi_place();
  std::unique_ptr<mpi_library> library;
  std::string tried;

  opened_mpi() {
    for (const std::string& candidate : platform::candidates(place)) {
      std::string error;
      const auto found = platform::dynamic_library::open(candidate, error);
      if (found) library = resolve_any(found, error);
      if (library) return;
      tried += (tried.empty() ? "" : "; ") + candidate + ": " + error;
    }
  }
  static opened_mpi& instance() {
    static auto* all = new opened_mpi;
    return *all;
  }
};

bool is_loaded(const std::string& soname) noexcept {
  void* const handle = ::dlopen(soname.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (handle) (void)::dlclose(handle);
  return handle != nullptr;
}

}  // namespace

platform::library_place mpi_place() {
  platform::library_place place = platform::mpi_place();
  // One that the program uses itself, or else that of the launcher, comes first: another one would be a job of one.
  const auto prefer = [&](std::string_view family, auto holds) {
    auto& names = place.sonames;
    for (std::size_t k = 0; k < names.size(); ++k)
      if (holds(names[k]) && (family.empty() || names[k].find(family) != std::string::npos))
        std::rotate(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(k),
                    names.begin() + static_cast<std::ptrdiff_t>(k) + 1);
  };
  const auto any = [](const std::string&) { return true; };
  if (std::getenv("OMPI_COMM_WORLD_SIZE")) prefer("libmpi.so.40", any);
  else if (std::getenv("PMI_SIZE")) prefer(".so.12", any);
  prefer("", [](const std::string& name) { return is_loaded(name); });
  return place;
}

mpi_library& mpi(const char* function) {
  opened_mpi& all = opened_mpi::instance();
  if (!all.library) platform::raise_unusable(function, all.place, all.tried);
  return *all.library;
}

mpi_library* mpi_of_program() noexcept {
  try {
    for (const std::string& soname : platform::mpi_place().sonames)
      if (is_loaded(soname)) {
        mpi_library* const library = opened_mpi::instance().library.get();
        return library && library->is_initialized() && !library->is_finalized() ? library : nullptr;
      }
  } catch (...) {  // no memory
  }
  return nullptr;
}

}  // namespace sinter::runtime
