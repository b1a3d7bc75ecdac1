// Any rank of any window of 16-bit samples: a histogram that follows the window to and fro (Huang, Yang &
// Tang 1979), with counts of 16 and of 256 values to stride over what is empty.
#pragma once
#include <algorithm>

#include "filters/median/tile.hpp"

namespace quietframe::median {

class Sliding {
 public:
  /// Bytes of memory that one object works in.
  static constexpr std::size_t counts = 65536 + 4096 + 256;

  explicit Sliding(std::uint16_t* memory) : fine_(memory), run_(memory + 65536), block_(run_ + 4096) {}

  void filter(const Tile<std::uint16_t>& t) {
    std::fill(fine_, fine_ + counts, std::uint16_t{0});
    less_ = 0;
    pivot_ = 0;
    for (int j = 0; j < t.window.height; ++j)
      for (int i = 0; i < t.window.width; ++i) change<1>(t.in[j * t.in_pitch + i]);
    for (int y = 0, x = 0; y < t.height; ++y) {
      if (y > 0) move<1>(t, x, y - 1, t.window.width, 1, 0, t.window.height);
      const bool right = y % 2 == 0;
      for (int n = 0; n < t.width; ++n) {
        if (n > 0) {
          if (right)
            move<1>(t, x++, y, t.window.height, 0, t.window.width, 0);
          else
            move<-1>(t, --x, y, t.window.height, 0, t.window.width, 0);
        }
        t.out[y * t.out_pitch + x] = find(t.window.rank);
      }
    }
  }

 private:
  template <int Sign>
  void change(std::uint16_t v) {
    fine_[v] = static_cast<std::uint16_t>(fine_[v] + Sign);
    run_[v >> 4] = static_cast<std::uint16_t>(run_[v >> 4] + Sign);
    block_[v >> 8] = static_cast<std::uint16_t>(block_[v >> 8] + Sign);
    less_ += v < pivot_ ? Sign : 0;
  }

  // Exchanges the `count` samples of the window's edge at (x, y) for those (dx, dy) further on; the edge is a
  // row if `horizontal`. Sign -1 goes the other way.
  template <int Sign>
  void move(const Tile<std::uint16_t>& t, int x, int y, int count, int horizontal, int dx, int dy) {
    const std::ptrdiff_t step = horizontal ? 1 : t.in_pitch;
    const std::uint16_t* edge = t.in + y * t.in_pitch + x;
    const std::uint16_t* further = edge + dy * t.in_pitch + dx;
    for (int i = 0; i < count; ++i) {
      change<-Sign>(edge[i * step]);
      change<Sign>(further[i * step]);
    }
  }

  // Moves the pivot until it is the value that `rank` samples at most are less than, and more are not
  // greater.
  std::uint16_t find(int rank) {
    while (less_ > rank) {
      if (pivot_ % 256 == 0) stride_down(block_, 256, rank);
      if (pivot_ % 16 == 0) stride_down(run_, 16, rank);
      less_ -= fine_[--pivot_];
    }
    while (less_ + fine_[pivot_] <= rank) {
      less_ += fine_[pivot_++];
      if (pivot_ % 16 == 0) stride_up(run_, 16, rank);
      if (pivot_ % 256 == 0) {
        stride_up(block_, 256, rank);
        stride_up(run_, 16, rank);
      }
    }
    return static_cast<std::uint16_t>(pivot_);
  }

  // Over whole ranges of `size` values that the wanted one is not in; they end at a multiple of 256 at the
  // latest.
  void stride_down(const std::uint16_t* count, int size, int rank) {
    do {
      const int below = count[pivot_ / size - 1];
      if (less_ - below <= rank) return;
      less_ -= below;
      pivot_ -= size;
    } while (size == 256 || pivot_ % 256 != 0);
  }
  void stride_up(const std::uint16_t* count, int size, int rank) {
    do {
      const int above = count[pivot_ / size];
      if (less_ + above > rank) return;
      less_ += above;
      pivot_ += size;
    } while (size == 256 || pivot_ % 256 != 0);
  }

  std::uint16_t *fine_, *run_, *block_;  ///< counts of single values, of 16, and of 256
  int less_ = 0;                         ///< samples of the window that are less than the pivot
  int pivot_ = 0;
};

}  // namespace quietframe::median
