// quietframe: denoise, make, measure and compare pictures and clips with the filters of the element.
#include "command.hpp"

int main(int argc, char** argv) { return static_cast<int>(quietframe::cli::run_main(argc, argv)); }
