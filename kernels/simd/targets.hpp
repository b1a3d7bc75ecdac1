// Which instruction sets the Highway sources are compiled for; to be included before <hwy/foreach_target.h>.
#pragma once
#include <hwy/base.h>

// Vectors are kept in arrays and structs, which sizes known only at run time do not allow. SSSE3 and AVX3_DL
// add nothing to float code but compile time.
#define QF_UNUSED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_RVV | HWY_SSSE3 | HWY_AVX3_DL)

// Under sanitizers, where each takes minutes to compile, one is enough: that of today's machines.
#if HWY_ARCH_X86 && \
    (HWY_IS_ASAN || HWY_IS_TSAN || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__))
#define HWY_BASELINE_TARGETS HWY_AVX2
#define HWY_DISABLED_TARGETS (QF_UNUSED_TARGETS | HWY_AVX3)
#else
#define HWY_DISABLED_TARGETS QF_UNUSED_TARGETS
#endif
