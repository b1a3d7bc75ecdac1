// Turns CUDA's codes into what a user can act on.
#include "cuda/error.hpp"

#include <cstring>

#include "cuda/runtime.hpp"

namespace quietframe::cuda {
namespace {

// The codes that matter here, as driver_types.h numbers them; the numbers are part of CUDA's ABI.
constexpr int no_kernel_image = 209;

Fault classify(int code) {
  switch (code) {
    case 2:  // cudaErrorMemoryAllocation
      return Fault::out_of_memory;
    case 34:   // cudaErrorStubLibrary
    case 35:   // cudaErrorInsufficientDriver
    case 46:   // cudaErrorDevicesUnavailable
    case 100:  // cudaErrorNoDevice
    case 101:  // cudaErrorInvalidDevice
      return Fault::no_device;
    case 214:  // cudaErrorECCUncorrectable
    case 700:  // cudaErrorIllegalAddress
    case 702:  // cudaErrorLaunchTimeout
    case 709:  // cudaErrorContextIsDestroyed
    case 710:  // cudaErrorAssert
    case 714:  // cudaErrorHardwareStackError
    case 715:  // cudaErrorIllegalInstruction
    case 716:  // cudaErrorMisalignedAddress
    case 717:  // cudaErrorInvalidAddressSpace
    case 718:  // cudaErrorInvalidPc
    case 719:  // cudaErrorLaunchFailure
    case 999:  // cudaErrorUnknown
      return Fault::lost;
    default:
      return Fault::other;
  }
}

const char* remedy(int code) {
  if (code == no_kernel_image)
    return "This build has no code for this GPU: rebuild with its architecture in -Dcuda-archs.";
  switch (classify(code)) {
    case Fault::out_of_memory:
      return "Use a smaller async-depth or frame size, free GPU memory (nvidia-smi lists who holds it), or "
             "use "
             "backend=cpu.";
    case Fault::no_device:
      return "Check the driver with nvidia-smi, or use backend=cpu.";
    case Fault::lost:
      return "The GPU context is lost: restart the application; if it happens again, look at dmesg for NVRM "
             "lines.";
    case Fault::other:
      return "Restart the element; if it happens again, report it with this message.";
  }
  return "";
}

const char* file_name(const char* path) {
  const char* slash = std::strrchr(path, '/');
  return slash ? slash + 1 : path;
}

std::string describe(int code, const char* call, const char* file, int line) {
  auto& r = runtime();
  r.take_last_error();  // or the next innocent check would report this failure again
  return std::string("CUDA: ") + r.error_text(code) + " (" + r.error_name(code) + ") in " + call + ", " +
         file_name(file) + ":" + std::to_string(line) + ". " + remedy(code);
}

}  // namespace

CudaError::CudaError(int code, const char* call, const char* file, int line)
    : Error(describe(code, call, file, line)),
      code_(code),
      place_(std::string(file_name(file)) + ":" + std::to_string(line)) {}

Fault CudaError::fault() const { return classify(code_); }

void check_launch(const char* kernel, const char* file, int line) {
  check(runtime().take_last_error(), kernel, file, line);
}

}  // namespace quietframe::cuda
