// The filter banks of the five bases, and the index arithmetic of a transform with half-sample symmetric
// borders.
#pragma once
#include "filters/wavelet/params.hpp"

namespace quietframe::wavelet {

inline constexpr int max_taps = 12;

/// Analysis (dec) and synthesis (rec) filters, `taps` of each, in PyWavelets' order and signs.
///
/// With x the signal and c the coefficients,
///   analysis   c[i] = sum_j dec[j] x[2i + 1 - j]
///   synthesis  x[2m] = sum_j rec_lo[2j] lo[m + taps/2 - 1 - j] + rec_hi[2j] hi[m + taps/2 - 1 - j],
///              x[2m + 1] the same with rec[2j + 1].
struct Bank {
  int taps;
  float dec_lo[max_taps], dec_hi[max_taps], rec_lo[max_taps], rec_hi[max_taps];
};

/// The high-pass filters follow from the low-pass ones: dec_hi[k] = -(-1)^k rec_lo[k], rec_hi[k] = (-1)^k
/// dec_lo[k].
template <int Taps>
constexpr Bank make_bank(const double (&dec_lo)[Taps], const double (&rec_lo)[Taps]) {
  Bank b{Taps, {}, {}, {}, {}};
  for (int k = 0; k < Taps; ++k) {
    const float sign = k % 2 == 0 ? 1.f : -1.f;
    b.dec_lo[k] = static_cast<float>(dec_lo[k]);
    b.rec_lo[k] = static_cast<float>(rec_lo[k]);
    b.dec_hi[k] = -sign * b.rec_lo[k];
    b.rec_hi[k] = sign * b.dec_lo[k];
  }
  return b;
}

template <int Taps>
constexpr Bank make_orthogonal(const double (&dec_lo)[Taps]) {
  double rec_lo[Taps];
  for (int k = 0; k < Taps; ++k) rec_lo[k] = dec_lo[Taps - 1 - k];
  return make_bank<Taps>(dec_lo, rec_lo);
}

// Daubechies, "Ten Lectures on Wavelets", tables 6.1 (db4), 6.3 (sym4), 8.1 (coif2) and 8.3 (the 9/7 pair),
// normalised to sum(dec_lo) = sqrt(2).
inline constexpr Bank haar = make_orthogonal<2>({0.7071067811865476, 0.7071067811865476});
inline constexpr Bank db4 =
    make_orthogonal<8>({-0.010597401785069032, 0.0328830116668852, 0.030841381835560764, -0.18703481171909309,
                        -0.027983769416859854, 0.6308807679298589, 0.7148465705529157, 0.2303778133088965});
inline constexpr Bank sym4 = make_orthogonal<8>(
    {-0.07576571478927333, -0.02963552764599851, 0.49761866763201545, 0.8037387518059161, 0.29785779560527736,
     -0.09921954357684722, -0.012603967262037833, 0.0322231006040427});
inline constexpr Bank coif2 = make_orthogonal<12>(
    {-0.000720549445520347, -0.0018232088709110323, 0.005611434819368834, 0.02368017194684777,
     -0.05943441864643109, -0.07648859907828076, 0.4170051844232391, 0.8127236354494135, 0.3861100668227629,
     -0.0673725547237256, -0.04146493678687178, 0.01638733646320364});
inline constexpr Bank bior44 =
    make_bank<10>({0.0, 0.03782845550726404, -0.023849465019556843, -0.11062440441843718, 0.37740285561283066,
                   0.8526986790088938, 0.37740285561283066, -0.11062440441843718, -0.023849465019556843,
                   0.03782845550726404},
                  {0.0, -0.06453888262869706, -0.04068941760916406, 0.41809227322161724, 0.7884856164055829,
                   0.41809227322161724, -0.04068941760916406, -0.06453888262869706, 0.0, 0.0});

constexpr const Bank& bank_of(Basis basis) {
  switch (basis) {
    case Basis::haar:
      return haar;
    case Basis::db4:
      return db4;
    case Basis::sym4:
      return sym4;
    case Basis::coif2:
      return coif2;
    default:
      return bior44;
  }
}

/// Coefficients of one subband along a side of n samples.
QF_HD constexpr int coefficients(int n, int taps) { return (n + taps - 1) / 2; }

/// Index of sample i of the half-sample symmetric extension ... x1 x0 | x0 x1 ... x(n-1) | x(n-1) x(n-2) ...,
/// any i, any n >= 1.
QF_HD constexpr int reflect(int i, int n) {
  if (i >= 0 && i < n) return i;
  const int period = 2 * n;
  i %= period;
  if (i < 0) i += period;
  return i < n ? i : period - 1 - i;
}

/// Calls f.template operator()<taps>() with the number of taps as a constant.
template <class F>
decltype(auto) with_taps(int taps, F&& f) {
  switch (taps) {
    case 2:
      return f.template operator()<2>();
    case 8:
      return f.template operator()<8>();
    case 10:
      return f.template operator()<10>();
    default:
      return f.template operator()<12>();
  }
}

/// One coefficient after its threshold.
template <Rule R>
QF_HD inline float shrink(float c, float tau) {
  const float magnitude = c < 0.f ? -c : c;
  if constexpr (R == Rule::soft)
    return c - (c < -tau ? -tau : c > tau ? tau : c);
  else if constexpr (R == Rule::hard)
    return magnitude > tau ? c : 0.f;
  else
    return magnitude > tau ? c - tau * tau / c : 0.f;
}

}  // namespace quietframe::wavelet
