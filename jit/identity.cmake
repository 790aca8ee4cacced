# Writes the C++ file OUT, which defines sinter::jit::generator_identity: a hash of the text that decides what source is
# generated. It is part of the keys of cached kernels, so an edited generator never uses kernels of an earlier one.
#   cmake -DOUT=<out.cpp> -DDIR=<jit> -P jit/identity.cmake
file(GLOB_RECURSE files "${DIR}/*.cpp" "${DIR}/*.hpp" "${DIR}/*.def" "${DIR}/*.h")
list(APPEND files "${DIR}/../include/sinter/dtype.hpp")
list(SORT files)
set(all "")
foreach(path ${files})
  file(SHA256 "${path}" hash)
  string(APPEND all "${hash}")
endforeach()
string(SHA256 identity "${all}")
file(WRITE "${OUT}.new" "#include \"jit/compile.hpp\"

namespace sinter::jit {
std::string_view generator_identity() noexcept { return \"${identity}\"; }
}  // namespace sinter::jit
")
execute_process(COMMAND ${CMAKE_COMMAND} -E copy_if_different "${OUT}.new" "${OUT}")
file(REMOVE "${OUT}.new")
