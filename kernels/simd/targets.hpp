// Which instruction sets the Highway sources are compiled for; to be included before <hwy/foreach_target.h>.
#pragma once

// Vectors are kept in arrays and structs, which sizes known only at run time do not allow. SSSE3 and AVX3_DL
// add nothing to float code but compile time.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_RVV | HWY_SSSE3 | HWY_AVX3_DL)
