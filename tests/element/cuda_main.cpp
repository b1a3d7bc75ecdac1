// Runs the element tests with the element linked in, so that they may put a failing CUDA runtime behind it.
// On a GPU; with --fake-gpu, on the fake one. Exit code 77 where there is no GPU.
#include <gst/gst.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>

#include "cuda/device.hpp"
#include "cuda/fake_runtime.hpp"
#include "debug.hpp"
#include "element.hpp"
#include "fake_cuda_library.hpp"

int main(int argc, char** argv) {
  using namespace quietframe;
  gst_init(&argc, &argv);
  ::testing::InitGoogleTest(&argc, argv);
  g_setenv("QF_TEST_BACKEND", "cuda", TRUE);
  const bool pretend = argc > 1 && std::strcmp(argv[1], "--fake-gpu") == 0;
  cuda::FakeRuntime fake;
  if (pretend) {
    cuda::replace_runtime(&fake);
    test::use_fake_cuda_library();
  }
  if (const auto found = cuda::probe(); found.devices.empty())
    return std::printf("skipped: %s\n", found.why_none.c_str()), 77;
  gst::debug_category();  // as the plugin does: a category made later logs nothing
  gst_element_register(nullptr, "videodenoise", GST_RANK_NONE, gst_video_denoise_get_type());
  int result = RUN_ALL_TESTS();
  gst_deinit();  // the leaks tracer reports here
  if (fake.live() > 0 || fake.misuses > 0) {
    std::printf("on the fake GPU %zu handles and blocks are left, %d calls were wrong\n", fake.live(),
                fake.misuses.load());
    result = 1;
  }
  return result;
}
