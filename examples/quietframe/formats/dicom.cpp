// DICOM through DCMTK: one frame, its stored values and not what a window would show of them; only read.
#include <dcmtk/config/osconfig.h>
#include <dcmtk/dcmdata/dcistrmb.h>
#include <dcmtk/dcmdata/dcrledrg.h>
#include <dcmtk/dcmdata/dctk.h>
#include <dcmtk/dcmimage/diregist.h>
#include <dcmtk/dcmimgle/dcmimage.h>
#include <dcmtk/dcmjpeg/djdecode.h>
#include <dcmtk/dcmjpls/djdecode.h>

#include <cstring>
#include <string>

#include <fmt/format.h>

#include "errors.hpp"
#include "formats/codec.hpp"

namespace quietframe::cli::dicom {
namespace {

// DCMTK keeps its decoders in a global list, and prints unless it is told not to.
struct Library {
  Library() {
    OFLog::configure(OFLogger::OFF_LOG_LEVEL);
    DcmRLEDecoderRegistration::registerCodecs();
    DJDecoderRegistration::registerCodecs();
    DJLSDecoderRegistration::registerCodecs();
  }
  ~Library() {
    DJLSDecoderRegistration::cleanup();
    DJDecoderRegistration::cleanup();
    DcmRLEDecoderRegistration::cleanup();
  }
};

[[noreturn]] void damaged(const OFCondition& why) {
  throw FileError(fmt::format("is a damaged DICOM: {}", why.text()));
}

/// How the samples lie, in the standard's words.
struct Layout {
  Uint16 rows = 0, columns = 0, samples = 1, bits_allocated = 0, bits_stored = 0, high_bit = 0, is_signed = 0;
  std::string photometric;
  bool is_gray() const { return photometric == "MONOCHROME1" || photometric == "MONOCHROME2"; }
};

// DCMTK stores 0 where a number is missing.
Uint16 number(DcmDataset& data, const DcmTagKey& tag, int otherwise) {
  Uint16 value = 0;
  return data.findAndGetUint16(tag, value).good() ? value : static_cast<Uint16>(otherwise);
}

std::string text(DcmDataset& data, const DcmTagKey& tag) {
  OFString value;
  data.findAndGetOFString(tag, value);
  return value.c_str();
}

Layout layout_of(DcmDataset& data) {
  Layout l;
  l.rows = number(data, DCM_Rows, 0);
  l.columns = number(data, DCM_Columns, 0);
  l.samples = number(data, DCM_SamplesPerPixel, 1);
  l.bits_allocated = number(data, DCM_BitsAllocated, 0);
  l.bits_stored = number(data, DCM_BitsStored, l.bits_allocated);
  l.high_bit = number(data, DCM_HighBit, l.bits_stored - 1);
  l.is_signed = number(data, DCM_PixelRepresentation, 0);
  l.photometric = text(data, DCM_PhotometricInterpretation);
  check_size(l.columns, l.rows);
  if (l.bits_stored < 1 || l.bits_stored > l.bits_allocated || l.high_bit < l.bits_stored - 1 ||
      l.high_bit >= l.bits_allocated)
    throw FileError(fmt::format("is a damaged DICOM: {} of {} bits with the highest at {} cannot be",
                                l.bits_stored, l.bits_allocated, l.high_bit));
  return l;
}

template <class T>
void take_gray(const Layout& l, const T* from, Picture& p) {
  const unsigned mask = (1U << l.bits_stored) - 1, sign = l.is_signed ? 1U << (l.bits_stored - 1) : 0,
                 inverted = l.photometric == "MONOCHROME1" ? mask : 0;
  for (std::size_t i = 0; i < p.samples(); ++i) {
    const unsigned stored = static_cast<unsigned>(from[i]) >> (l.high_bit + 1 - l.bits_stored) & mask;
    const unsigned code = (stored ^ sign) ^ inverted;  // two's complement, shifted so that the least is 0
    if (p.sample_bytes() == 1) {
      p.data[i] = static_cast<std::byte>(code);
    } else {
      const auto v = static_cast<std::uint16_t>(code);
      std::memcpy(p.data.data() + 2 * i, &v, 2);
    }
  }
}

Picture decode_gray(DcmDataset& data, const Layout& l) {
  Picture p{l.columns, l.rows, 1, (1 << l.bits_stored) - 1, {}, {}};
  unsigned long count = 0;
  const Uint8* bytes = nullptr;
  const Uint16* words = nullptr;
  const auto found = l.bits_allocated == 8 ? data.findAndGetUint8Array(DCM_PixelData, bytes, &count)
                                           : data.findAndGetUint16Array(DCM_PixelData, words, &count);
  if (found.bad()) damaged(found);
  if (count < p.samples())
    throw FileError(fmt::format("is a damaged DICOM: {} of {} pixels are there", count, p.samples()));
  p.allocate();
  bytes ? take_gray(l, bytes, p) : take_gray(l, words, p);
  return p;
}

// Palettes and YCbCr become RGB, which DCMTK does.
Picture decode_colour(DcmDataset& data, const Layout& l) {
  DicomImage image(&data, data.getCurrentXfer(), CIF_UsePartialAccessToPixelData);
  if (image.getStatus() != EIS_Normal)
    throw FileError(fmt::format("is a damaged DICOM: {}", DicomImage::getString(image.getStatus())));
  const int bits = image.getDepth() > 8 ? 16 : 8;
  Picture p{l.columns, l.rows, 3, (1 << bits) - 1, {}, {}};
  if (image.isMonochrome() || image.getWidth() != l.columns || image.getHeight() != l.rows ||
      image.getOutputDataSize(bits) != p.samples() * static_cast<std::size_t>(p.sample_bytes()))
    throw FileError(fmt::format("is a DICOM of a kind ({}) that DCMTK cannot turn into RGB", l.photometric));
  p.allocate();
  if (!image.getOutputData(p.data.data(), p.data.size(), bits))
    throw FileError("is a damaged DICOM: its pixels cannot be converted to RGB");
  return p;
}

}  // namespace

Picture decode(Bytes file) {
  static const Library library;
  DcmInputBufferStream stream;
  stream.setBuffer(file.data(), static_cast<offile_off_t>(file.size()));
  stream.setEos();
  DcmFileFormat format;
  format.transferInit();
  const auto read = format.read(stream);
  format.transferEnd();
  if (read.bad()) damaged(read);
  auto& data = *format.getDataset();
  const auto l = layout_of(data);
  Sint32 frames = 1;
  if (data.findAndGetSint32(DCM_NumberOfFrames, frames).bad()) frames = 1;
  if (frames != 1)
    throw FileError(fmt::format(
        "is a DICOM of {} frames: write one as PNG with dcm2pnm +on2 +F of DCMTK, or feed them as a clip",
        frames));
  if (l.is_gray() ? l.samples != 1 || (l.bits_allocated != 8 && l.bits_allocated != 16)
                  : l.bits_allocated > 16)
    throw FileError(
        fmt::format("is a DICOM with {} samples of {} bits; gray and colour of 8 and 16 can be read",
                    l.samples, l.bits_allocated));
  if (data.chooseRepresentation(EXS_LittleEndianExplicit, nullptr).bad())
    throw FileError(fmt::format("is a DICOM in {}, which DCMTK cannot decode: convert it first",
                                DcmXfer(data.getOriginalXfer()).getXferName()));
  auto uncompressed = l;  // a decoder may have changed the colours
  uncompressed.photometric = text(data, DCM_PhotometricInterpretation);
  return l.is_gray() ? decode_gray(data, uncompressed) : decode_colour(data, uncompressed);
}

}  // namespace quietframe::cli::dicom
