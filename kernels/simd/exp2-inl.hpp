// 2^-t in vectors, for weights; included once for each instruction set (Highway's -inl convention).
#include <hwy/highway.h>

#if defined(QUIETFRAME_SIMD_EXP2_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef QUIETFRAME_SIMD_EXP2_INL
#undef QUIETFRAME_SIMD_EXP2_INL
#else
#define QUIETFRAME_SIMD_EXP2_INL
#endif

HWY_BEFORE_NAMESPACE();
namespace quietframe::simd {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// 2^-t for t >= 0, relative error below 2e-7; from t = 126 on it stays at 2^-126. NaN gives some finite
/// number.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V exp2_negative(D d, V t) {
  const hn::RebindToSigned<D> di;
  // Adding 1.5 * 2^23 rounds to an integer and leaves it in the low bits of the float.
  const V magic = hn::Set(d, 12582912.f);
  const V clamped = hn::Min(t, hn::Set(d, 126.f));
  const V rounded = hn::Add(clamped, magic);
  const V f = hn::Sub(hn::Sub(rounded, magic), clamped);  // -1/2 .. 1/2
  // Minimax polynomial of 2^f there, degree 5.
  V p = hn::Set(d, 0.0013276472f);
  p = hn::MulAdd(p, f, hn::Set(d, 0.009675541f));
  p = hn::MulAdd(p, f, hn::Set(d, 0.05550713f));
  p = hn::MulAdd(p, f, hn::Set(d, 0.2402212f));
  p = hn::MulAdd(p, f, hn::Set(d, 0.69314694f));
  p = hn::MulAdd(p, f, hn::Set(d, 1.0000001f));
  const auto exponent = hn::ShiftLeft<23>(hn::BitCast(di, rounded));
  return hn::BitCast(d, hn::Sub(hn::BitCast(di, p), exponent));
}

/// 2^-(s scale) for s >= 0 and scale > 0, in fewer and less dependent steps; the error is below 3e-7 and the
/// limits are the same.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V exp2_negative(D d, V s, V scale, V most) {
  const hn::RebindToSigned<D> di;
  const V magic = hn::Set(d, 12582912.f);
  const V clamped = hn::Min(s, most);
  const V rounded = hn::MulAdd(clamped, scale, magic);
  const V f = hn::NegMulAdd(clamped, scale, hn::Sub(rounded, magic));
  const V f2 = hn::Mul(f, f);
  const V high = hn::MulAdd(hn::Set(d, 0.0013276472f), f, hn::Set(d, 0.009675541f));
  const V middle = hn::MulAdd(hn::Set(d, 0.05550713f), f, hn::Set(d, 0.2402212f));
  const V low = hn::MulAdd(hn::Set(d, 0.69314694f), f, hn::Set(d, 1.0000001f));
  const V p = hn::MulAdd(hn::MulAdd(high, f2, middle), f2, low);
  const auto exponent = hn::ShiftLeft<23>(hn::BitCast(di, rounded));
  return hn::BitCast(d, hn::Sub(hn::BitCast(di, p), exponent));
}

}  // namespace HWY_NAMESPACE
}  // namespace quietframe::simd
HWY_AFTER_NAMESPACE();

#endif
