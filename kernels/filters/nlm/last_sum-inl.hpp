// Running sums of vectors without subtraction; included once for each instruction set (Highway's -inl
// convention).
#include <hwy/highway.h>

#if defined(QUIETFRAME_NLM_LAST_SUM_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef QUIETFRAME_NLM_LAST_SUM_INL
#undef QUIETFRAME_NLM_LAST_SUM_INL
#else
#define QUIETFRAME_NLM_LAST_SUM_INL
#endif

HWY_BEFORE_NAMESPACE();
namespace quietframe::nlm {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

// Sum of the last 2P + 1 vectors pushed, always added in the same order: sums of 2, 4 and 8 that end at the
// newest are kept, and joined.
template <int P>
class LastSum {
 public:
  // Not member initialisers: the compiler would not give those the instruction set.
  HWY_INLINE LastSum() {
    const V zero = hn::Zero(D());
    even_ = one_ = two_[0] = two_[1] = zero;
    for (int i = 0; i < 4; ++i) four_[i] = eight_[i] = zero;
  }

  HWY_INLINE V push(V v) {
    if constexpr (P == 0) return v;
    const V all = hn::Add(even_, v);
    const V two = hn::Add(v, one_);
    const V four = P >= 2 ? hn::Add(two, two_[1]) : two;
    const V eight = P >= 4 ? hn::Add(four, four_[3]) : four;
    if constexpr (P == 1) even_ = two;
    if constexpr (P == 2) even_ = four;
    if constexpr (P == 3) even_ = hn::Add(two, four_[1]);
    if constexpr (P == 4) even_ = eight;
    if constexpr (P == 5) even_ = hn::Add(two, eight_[1]);
    if constexpr (P == 6) even_ = hn::Add(four, eight_[3]);
    one_ = v;
    shift(two_, two);
    shift(four_, four);
    shift(eight_, eight);
    return all;
  }

 private:
  template <std::size_t N>
  static HWY_INLINE void shift(V (&v)[N], V newest) {
    for (std::size_t i = N - 1; i > 0; --i) v[i] = v[i - 1];
    v[0] = newest;
  }
  V even_, one_, two_[2], four_[4], eight_[4];
};

}  // namespace HWY_NAMESPACE
}  // namespace quietframe::nlm
HWY_AFTER_NAMESPACE();

#endif
