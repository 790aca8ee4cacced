// Checks, times and tabulates every form of the relative difference.
#include "relative_difference/forms.hpp"

int main(int count, char** words) { return examples::run_throughput(relative_difference::all_forms(), count, words); }
