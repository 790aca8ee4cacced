# What examples/run.sh and tests/run.sh share: finding or installing what a build needs, and building.
# Sourced with the current directory at the top of the repository.

say() { printf '%s\n' "$*"; }
die() {
  printf '%s\n' "$*" >&2
  exit 1
}

probe_dir=$(mktemp -d)
trap 'rm -rf "$probe_dir"' EXIT

# compiles FLAGS... : whether the compiler takes the program on standard input.
compiles() {
  cat >"$probe_dir/probe.cpp"
  "${CXX:-c++}" -std=c++20 "$probe_dir/probe.cpp" -o "$probe_dir/probe" "$@" >"$probe_dir/log" 2>&1
}

have_compiler() {
  compiles <<'CPP'
#include <concepts>
#include <vector>
#if defined(__clang__) ? __clang_major__ < 14 : __GNUC__ < 12
#error too old
#endif
int main() { return static_cast<int>(std::vector<int>().size()); }
CPP
}

have_clang() { command -v clang++ >/dev/null && CXX=clang++ have_compiler; }

have_cmake() {
  local version
  version=$(cmake --version 2>/dev/null | sed -n 's/^cmake version //p')
  [ -n "$version" ] && printf '3.25\n%s\n' "$version" | sort -V -C
}

have_ninja() { ninja --version >/dev/null 2>&1; }

# Without a compiler the usual place of the header has to do.
have_doctest() {
  have_compiler || { [ -f /usr/include/doctest/doctest.h ] && return 0; }
  compiles -fsyntax-only <<'CPP'
#include <doctest/doctest.h>
CPP
}

have_png() {
  have_compiler || { [ -f /usr/include/png.h ] && return 0; }
  compiles -lpng <<'CPP'
#include <png.h>
int main() { return png_access_version_number() < 10600; }
CPP
}

# The libraries that linear algebra and Fourier transforms open at run time, with the headers that the build wants.
have_openblas() {
  have_compiler || { [ -f /usr/include/x86_64-linux-gnu/openblas_config.h ] && return 0; }
  compiles -lopenblas <<'CPP'
#include <cblas.h>
#include <openblas_config.h>
int main() { return openblas_get_num_threads() == 0; }
CPP
}

have_lapacke() {
  have_compiler || { [ -f /usr/include/lapacke.h ] && return 0; }
  compiles -llapacke <<'CPP'
#include <lapacke.h>
int main() { return LAPACKE_dlamch('E') == 0; }
CPP
}

have_fftw() {
  have_compiler || { [ -f /usr/include/fftw3.h ] && return 0; }
  compiles -lfftw3 -lfftw3f <<'CPP'
#include <fftw3.h>
int main() { fftwf_cleanup(), fftw_cleanup(); }
CPP
}

# Factorisations of sparse matrices; opened at run time, without a header at build time.
have_superlu() {
  ldconfig -p 2>/dev/null | grep -q libsuperlu.so.5 || [ -f /usr/lib/x86_64-linux-gnu/libsuperlu.so.5 ]
}

# Processes with a rank each: MPI is opened at run time, without a header at build time.
have_mpi() {
  command -v mpirun >/dev/null 2>&1 && ldconfig -p 2>/dev/null | grep -Eq 'libmpi\.so\.40|libmpich\.so\.12|libmpi\.so\.12'
}

# .npz archives.
have_zip() {
  have_compiler || { [ -f /usr/include/zip.h ] && return 0; }
  compiles -lzip <<'CPP'
#include <zip.h>
int main() { return zip_libzip_version()[0] == 0; }
CPP
}

# Any python3 will do: packages of the distribution serve the one in /usr/bin only.
have_numpy() {
  local python
  for python in python3 /usr/bin/python3; do
    "$python" -c 'import numpy' >/dev/null 2>&1 && return 0
  done
  return 1
}

# missing_packages NEED... : the Debian packages for what the probes do not find, one line.
missing_packages() {
  local need list=
  for need in "$@"; do
    case $need in
      compiler) have_compiler || list="$list g++" ;;
      clang) have_clang || list="$list clang" ;;
      cmake) have_cmake || list="$list cmake" ;;
      ninja) have_ninja || list="$list ninja-build" ;;
      doctest) have_doctest || list="$list doctest-dev" ;;
      png) have_png || list="$list libpng-dev" ;;
      openblas) have_openblas || list="$list libopenblas-dev" ;;
      lapacke) have_lapacke || list="$list liblapacke-dev" ;;
      superlu) have_superlu || list="$list libsuperlu5" ;;
      mpi) have_mpi || list="$list openmpi-bin" ;;
      zip) have_zip || list="$list libzip-dev" ;;
      numpy) have_numpy || list="$list python3-numpy" ;;
      fftw) have_fftw || list="$list libfftw3-dev" ;;
    esac
  done
  printf '%s' "${list# }"
}

# The command prefix that may install packages, or nothing and a failure.
find_root() {
  command -v apt-get >/dev/null 2>&1 || return 1
  if [ "$(id -u)" = 0 ]; then
    printf 'env'
  elif command -v sudo >/dev/null 2>&1 && sudo -n true >/dev/null 2>&1; then
    printf 'sudo -n env'
  else
    return 1
  fi
}

# apt_install ROOT PACKAGES : installs Debian packages, and says what apt said where that fails.
apt_install() {
  local root=$1 missing=$2
  say "Installing, which may take a minute: $missing"
  # A list that cannot be refreshed may still be good enough to install from.
  $root DEBIAN_FRONTEND=noninteractive apt-get -qq update >"$probe_dir/apt.log" 2>&1 || true
  # shellcheck disable=SC2086
  if ! $root DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends $missing \
    >>"$probe_dir/apt.log" 2>&1; then
    tail -n 15 "$probe_dir/apt.log" >&2
    return 1
  fi
}

# need NEED... : makes sure that all are there; installs Debian packages only where a probe fails.
need() {
  local missing root
  missing=$(missing_packages "$@")
  [ -n "$missing" ] || return 0
  root=$(find_root) && apt_install "$root" "$missing" || die "Missing packages, install them and run this again: $missing"
  missing=$(missing_packages "$@")
  [ -z "$missing" ] || die "Installed, but still too old or not found: $missing (compiler: ${CXX:-c++})"
}

# want NEED... : as need, for what a build can do without: where it cannot be installed one line says so.
want() {
  local missing root
  missing=$(missing_packages "$@")
  [ -n "$missing" ] || return 0
  root=$(find_root) && apt_install "$root" "$missing" || say "Going on without: $missing"
}

# build_dir, kept from run to run; a build folder of a moved clone is of no use.
build_dir=${SINTER_BUILD_DIR:-build}

# configure OPTIONS... : configures $build_dir and says which CUDA toolkit was taken, or why none.
configure() {
  local cache=$build_dir/CMakeCache.txt generator=(-G Ninja)
  if [ -f "$cache" ]; then
    if grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$PWD" "$cache"; then
      generator=()
    else
      rm -rf "$cache" "$build_dir/CMakeFiles"
    fi
  fi
  # Everything is compiled: what makes that fast is worth having. An old folder keeps what it was made with.
  [ -f "$cache" ] || set -- -DSINTER_UNITY=ON "$@"
  if ! cmake -S . -B "$build_dir" "${generator[@]}" -DCMAKE_BUILD_TYPE=Release "$@" >"$probe_dir/configure.log" 2>&1; then
    cat "$probe_dir/configure.log" >&2
    die "Configuring failed."
  fi
  sed -n 's/^-- sinter: //p' "$probe_dir/configure.log"
}

# build TARGETS... : builds all targets where none is named.
build() {
  local targets=()
  [ $# = 0 ] || targets=(--target "$@")
  say "Compiling ${*:-the library, the examples and the tests} on $(nproc) cores; a fresh build takes minutes."
  cmake --build "$build_dir" -j "$(nproc)" "${targets[@]}" || die "Building failed."
}
