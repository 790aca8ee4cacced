// Programs on meshes beside one device.
#include "dist/compare.hpp"
#include "dist/everyday_programs.hpp"
#include "dist/further_programs.hpp"
#include "dist/indexed_programs.hpp"

using namespace sinter;

TEST_CASE("programs on meshes have the results of one device") {
  test::compare_programs(test::user_programs(), test::mesh_sizes());
}
TEST_CASE("programs with lists of indices have the results of one device") {
  test::compare_programs(test::indexed_programs(), test::mesh_sizes());
}
TEST_CASE("programs of statistics, systems and neighbours have the results of one device") {
  test::compare_programs(test::everyday_programs(), test::mesh_sizes());
}
TEST_CASE("programs of waves, spins, images, series and links have the results of one device") {
  test::compare_programs(test::further_programs(), test::mesh_sizes());
}
