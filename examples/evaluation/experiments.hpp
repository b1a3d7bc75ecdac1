// The experiments; each writes one CSV file with a row a measurement.
#pragma once
#include <string>
#include <vector>

#include "settings.hpp"

namespace quietframe::evaluation {

struct SliceOptions {
  std::string path, size = "512x512";
};

struct QualityOptions {
  SliceOptions slices;
  std::string output;                 ///< CSV
  std::vector<std::string> programs;  ///< names of programs.hpp
  std::vector<std::string> degradations = {"gaussian", "rician", "motion"};
  std::vector<double> sigmas = {5, 10, 15, 20, 25};  ///< levels
  double shift = 15, degrees = 10;                   ///< of motion, at most
  std::string vary;              ///< "basis=haar,db4": one row of the wavelet filter's table
  int runs = 5, max_slices = 0;  ///< max_slices 0: all
  bool clip = false;  ///< the degraded slice is rounded and clamped to 8 bits, as a stored picture is
};

/// PSNR, SSIM and mean square error of every slice, degradation, run, program and setting, before and after
/// filtering, with the time of the frame by part and the largest difference to the first program's output.
void run_quality(const QualityOptions& options, const FrameSettings& settings);

struct TimingOptions {
  SliceOptions slices;
  std::string output;
  std::vector<std::string> programs;
  std::vector<std::string> samples = {"f32", "u8"};
  std::vector<int> counts = {1, 5, 10, 50, 100, 500, 1000};  ///< images; the whole set is added
  int whole = 0;                                             ///< images of the whole set; 0: the file's
  int runs = 5, in_flight = 16;
  double sigma = 15;   ///< Gaussian noise that is added to the slices, levels
  double budget = 60;  ///< seconds that the runs of one count may take; those that do not fit are left out,
                       ///< and said
};

/// Time of n noisy images from host memory to host memory, one after another and with several in flight.
void run_timing(const TimingOptions& options, const FrameSettings& settings);

struct FlickerOptions {
  SliceOptions slices;  ///< the frames of a clip; no path: a still phantom with new noise in each frame
  std::string output;
  double frame_rate = 30;
  int frames = 120;  ///< of the phantom
};

/// Sigma, mean level and root mean square of what was removed of each frame, filtered with the exact and with
/// the smoothed noise estimate; frames are rounded to 8 bits on both sides.
void run_flicker(const FlickerOptions& options, const FrameSettings& settings);

struct DenoiseOptions {
  SliceOptions slices;
  std::string output;  ///< slices
  std::string program = "cpu";
};

void run_denoise(const DenoiseOptions& options, const FrameSettings& settings);

/// Runs a few frames of the first slice, for a profiler to look at.
void run_profile(const SliceOptions& slices, const std::string& program, int frames,
                 const FrameSettings& settings);

/// Writes "key,value" lines: what ran here, and on what.
void write_machine(const std::string& output);

}  // namespace quietframe::evaluation
