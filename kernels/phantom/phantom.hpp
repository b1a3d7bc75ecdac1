// Generated pictures and moving sequences with a known clean version, for trying, testing and measuring.
#pragma once
#include <cstdint>
#include <memory>

#include "filter.hpp"
#include "param.hpp"

namespace quietframe {

enum class PhantomKind : int { target, ultrasound, sector, brain };

inline constexpr Choice phantom_choices[] = {
    {"target", "Colour test target: star, wedges, bars, discs, patches; the feed has Gaussian noise"},
    {"ultrasound",
     "B-mode of a linear probe: layers, cysts, bright masses, wires and a pulsing vessel in speckle"},
    {"sector", "The same tissue seen by a phased array: a sector on black"},
    {"brain", "Axial brain slice as MRI shows it, ventricles pulsing; the feed has Rician noise"},
};

struct PhantomParams {
  PhantomKind kind = PhantomKind::ultrasound;
  float noise = 15.f;
};

inline constexpr ParamInfo phantom_params[] = {
    QF_PARAM_ENUM(PhantomParams, kind, "scene", phantom_choices, "What is shown"),
    QF_PARAM(
        PhantomParams, noise, "noise", "levels", 0, 100,
        "Noise of the target (Gaussian) and the brain (Rician); ultrasound has its own: speckle and a noise "
        "floor that grows with depth"),
};

/// A scene of 30 frames a second. Frames are pure functions of their number and the seed: any order, any
/// number of threads and any machine give the same bytes.
class Phantom {
 public:
  virtual ~Phantom() = default;

  int width() const { return width_; }
  int height() const { return height_; }
  /// 1 (gray) or 3 (R, G, B).
  virtual int channels() const { return 1; }

  /// Renders frame `t` >= 0 in levels; either target may be null. Targets have the phantom's size and
  /// channels.
  ///
  /// `noisy` is the feed, not clamped. `clean` is what it would be without noise; for ultrasound, the mean of
  /// the log-compressed feed over all realisations of the speckle: what a perfect filter would make of it.
  virtual void render(int t, const PlanarGroup* clean, const PlanarGroup* noisy, ThreadPool& pool) = 0;

 protected:
  Phantom(int width, int height) : width_(width), height_(height) {}

 private:
  int width_, height_;
};

/// Width and height of 1..32767 pixels. Not for use by two threads at once.
std::unique_ptr<Phantom> make_phantom(const PhantomParams& params, int width, int height, std::uint64_t seed);

}  // namespace quietframe
