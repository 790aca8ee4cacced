// Checks, times and tabulates every form of saxpy.
#include "saxpy/forms.hpp"

int main(int count, char** words) { return examples::run_throughput(saxpy::all_forms(), count, words); }
