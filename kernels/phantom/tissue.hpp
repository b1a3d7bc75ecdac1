// The tissue that the ultrasound phantom scans: how strongly each place scatters and mirrors sound.
#pragma once

namespace quietframe::phantom {

/// Echo strength at a place, in dB below the brightest the picture shows.
struct Echo {
  double scatter_db;   ///< of the scatterers too small to see, which make speckle
  double specular_db;  ///< of a smooth interface, which does not; -200: none
};

/// Echo at x = 0..1 across the width and y = 0..1 down the depth, at `beat` = -1..1 of the vessel's pulse.
/// `aspect` is width / height of what is scanned; `pixel` is the size of a sample in y.
Echo tissue_echo(double x, double y, double aspect, double beat, double pixel);

}  // namespace quietframe::phantom
