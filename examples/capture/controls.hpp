// Changes videodenoise while it plays: from keys in the window or terminal, and from command lines on
// standard input.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "common/gst_owned.hpp"

namespace quietframe::examples {

class Controls {
 public:
  struct Actions {
    std::function<void()> quit, statistics, toggle_split;  ///< toggle_split may be empty: there is no preview
  };

  Controls(GstElement* denoise, Actions actions);

  /// One key: f b + - 0 s i q h. Returns what happened, for people; empty for a key that means nothing.
  std::string key(char key);
  /// "filter NAME", "strength X", "set PROPERTY=VALUE", "split", "stats", "quit", "help", or one key.
  /// Returns what happened; bad input is told, never thrown.
  std::string line(const std::string& line);

  static const char* help();

 private:
  std::string next_filter(int step);
  std::string change_strength(double by);
  std::string bypass();
  std::string assign(const std::string& assignment);

  GstElement* denoise_;
  Actions actions_;
  double strength_before_bypass_ = 1;
};

}  // namespace quietframe::examples
