#include <algorithm>
#include <limits>
#include <new>
#include <utility>
#include <vector>

#include <bzlib.h>
#include <fmt/format.h>
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "fenchel/base/error.hpp"
#include "fenchel/data/source.hpp"
#include "fenchel/data/stream.hpp"

namespace fenchel::data {

namespace {

using namespace std::string_view_literals;

constexpr std::size_t compressed_block = std::size_t{1} << 18;
// What one stream may need for looking back; all that xz and zstd make unless they are told to do better (zstd --long=28
// and more, xz dictionaries of more than 128 MiB) fits.
constexpr int zstd_window_bits = 27;
constexpr std::uint64_t xz_memory = std::uint64_t{160} << 20;

// What one step of a decoder did. `problem` is empty, or says in a few words what is wrong with the bytes; `cure` what
// helps against it, if not to get undamaged ones.
struct Decoded {
  std::size_t taken = 0;
  std::size_t given = 0;
  bool member_ended = false;
  std::string_view problem = {};
  std::string_view cure = "copy or download it again";
};

// One compression: undoes member after member (gzip's word; a frame, a stream), each from its first byte to its last.
class Decoder {
 public:
  virtual ~Decoder() = default;

  [[nodiscard]] virtual std::string_view name() const = 0;
  // Whether a member may begin like this.
  [[nodiscard]] virtual bool begins(std::string_view head) const = 0;
  // Zero bytes between and behind members come in multiples of this; 0: there are none.
  [[nodiscard]] virtual std::size_t padding_unit() const { return 0; }
  virtual void begin() = 0;
  virtual Decoded step(std::span<char> in, std::span<char> out) = 0;
};

// The libraries count bytes in 32 bits and want bytes of their own kind.
unsigned capped(std::size_t bytes) {
  return static_cast<unsigned>(std::min<std::size_t>(bytes, std::numeric_limits<unsigned>::max() / 2));
}
Bytef* octets(std::span<char> bytes) { return reinterpret_cast<Bytef*>(bytes.data()); }

class GzipDecoder final : public Decoder {
 public:
  GzipDecoder() {
    constexpr int gzip_only = 15 + 16;
    if (::inflateInit2(&state_, gzip_only) != Z_OK) throw std::bad_alloc();
  }
  ~GzipDecoder() override { ::inflateEnd(&state_); }
  GzipDecoder(const GzipDecoder&) = delete;
  GzipDecoder& operator=(const GzipDecoder&) = delete;

  [[nodiscard]] std::string_view name() const override { return "gzip"; }
  [[nodiscard]] bool begins(std::string_view head) const override { return head.starts_with("\x1f\x8b"); }
  [[nodiscard]] std::size_t padding_unit() const override { return 1; }
  void begin() override { ::inflateReset(&state_); }
  Decoded step(std::span<char> in, std::span<char> out) override {
    const unsigned offered = capped(in.size()), room = capped(out.size());
    state_.next_in = octets(in);
    state_.avail_in = offered;
    state_.next_out = octets(out);
    state_.avail_out = room;
    const int code = ::inflate(&state_, Z_NO_FLUSH);
    if (code == Z_MEM_ERROR) throw std::bad_alloc();
    Decoded done{offered - state_.avail_in, room - state_.avail_out, code == Z_STREAM_END};
    const bool fine = code == Z_OK || code == Z_STREAM_END || code == Z_BUF_ERROR;
    if (!fine) done.problem = state_.msg != nullptr ? state_.msg : "invalid data";
    return done;
  }

 private:
  z_stream state_ = {};
};

class ZstdDecoder final : public Decoder {
 public:
  ZstdDecoder() : state_(::ZSTD_createDCtx(), &::ZSTD_freeDCtx) {
    if (!state_) throw std::bad_alloc();
    ::ZSTD_DCtx_setParameter(state_.get(), ZSTD_d_windowLogMax, zstd_window_bits);
  }

  [[nodiscard]] std::string_view name() const override { return "zstd"; }
  [[nodiscard]] bool begins(std::string_view head) const override {
    // A frame with data, or one to be skipped: pzstd and others put notes to themselves there.
    const bool skippable = head.size() >= 4 && (head[0] & 0xf0) == 0x50 && head.substr(1, 3) == "\x2a\x4d\x18";
    return head.starts_with("\x28\xb5\x2f\xfd") || skippable;
  }
  void begin() override { ::ZSTD_DCtx_reset(state_.get(), ZSTD_reset_session_only); }
  Decoded step(std::span<char> in, std::span<char> out) override {
    ZSTD_inBuffer from{in.data(), in.size(), 0};
    ZSTD_outBuffer to{out.data(), out.size(), 0};
    const std::size_t left = ::ZSTD_decompressStream(state_.get(), &to, &from);
    Decoded done{from.pos, to.pos, left == 0};
    if (::ZSTD_isError(left) == 0) return done;
    const ZSTD_ErrorCode code = ::ZSTD_getErrorCode(left);
    if (code == ZSTD_error_memory_allocation) throw std::bad_alloc();
    done.problem = ::ZSTD_getErrorName(left);
    if (code == ZSTD_error_frameParameter_windowTooLarge) {
      done.problem = "its window is larger than 128 MiB";
      done.cure = "decompress it with zstd -d --long=31 first";
    }
    return done;
  }

 private:
  std::unique_ptr<ZSTD_DCtx, decltype(&::ZSTD_freeDCtx)> state_;
};

class Bzip2Decoder final : public Decoder {
 public:
  Bzip2Decoder() { open(); }
  ~Bzip2Decoder() override { ::BZ2_bzDecompressEnd(&state_); }
  Bzip2Decoder(const Bzip2Decoder&) = delete;
  Bzip2Decoder& operator=(const Bzip2Decoder&) = delete;

  [[nodiscard]] std::string_view name() const override { return "bzip2"; }
  [[nodiscard]] bool begins(std::string_view head) const override { return head.starts_with("BZh"); }
  void begin() override {
    ::BZ2_bzDecompressEnd(&state_);
    open();
  }
  Decoded step(std::span<char> in, std::span<char> out) override {
    const unsigned offered = capped(in.size()), room = capped(out.size());
    state_.next_in = in.data();
    state_.avail_in = offered;
    state_.next_out = out.data();
    state_.avail_out = room;
    const int code = ::BZ2_bzDecompress(&state_);
    if (code == BZ_MEM_ERROR) throw std::bad_alloc();
    Decoded done{offered - state_.avail_in, room - state_.avail_out, code == BZ_STREAM_END};
    if (code == BZ_DATA_ERROR_MAGIC) done.problem = "incorrect header";
    if (code == BZ_DATA_ERROR) done.problem = "incorrect data check";
    if (code < 0 && done.problem.empty()) done.problem = "invalid data";
    return done;
  }

 private:
  void open() {
    state_ = {};
    if (::BZ2_bzDecompressInit(&state_, 0, 0) != BZ_OK) throw std::bad_alloc();
  }

  bz_stream state_ = {};
};

class XzDecoder final : public Decoder {
 public:
  ~XzDecoder() override { ::lzma_end(&state_); }
  XzDecoder() = default;
  XzDecoder(const XzDecoder&) = delete;
  XzDecoder& operator=(const XzDecoder&) = delete;

  [[nodiscard]] std::string_view name() const override { return "xz"; }
  [[nodiscard]] bool begins(std::string_view head) const override { return head.starts_with("\xfd\x37zXZ\0"sv); }
  [[nodiscard]] std::size_t padding_unit() const override { return 4; }
  void begin() override {
    // A check of an unknown kind could not be checked: refused rather than believed.
    if (::lzma_stream_decoder(&state_, xz_memory, LZMA_TELL_UNSUPPORTED_CHECK) != LZMA_OK) throw std::bad_alloc();
  }
  Decoded step(std::span<char> in, std::span<char> out) override {
    state_.next_in = octets(in);
    state_.avail_in = in.size();
    state_.next_out = octets(out);
    state_.avail_out = out.size();
    const lzma_ret code = ::lzma_code(&state_, LZMA_RUN);
    Decoded done{in.size() - state_.avail_in, out.size() - state_.avail_out, code == LZMA_STREAM_END,
                 problem(code)};
    if (code == LZMA_MEMLIMIT_ERROR) done.cure = "decompress it with xz -d first";
    return done;
  }

 private:
  static std::string_view problem(lzma_ret code) {
    switch (code) {
      case LZMA_OK:
      case LZMA_STREAM_END:
      case LZMA_BUF_ERROR: return {};
      case LZMA_MEM_ERROR: throw std::bad_alloc();
      case LZMA_MEMLIMIT_ERROR: return "its dictionary is larger than 128 MiB";
      case LZMA_UNSUPPORTED_CHECK: return "a kind of check that is not known here";
      case LZMA_OPTIONS_ERROR: return "options that are not known here";
      case LZMA_FORMAT_ERROR: return "incorrect header";
      default: return "incorrect data check";
    }
  }

  lzma_stream state_ = LZMA_STREAM_INIT;
};

std::unique_ptr<Decoder> decoder_of(std::string_view compression) {
  if (compression == "gzip") return std::make_unique<GzipDecoder>();
  if (compression == "zstd") return std::make_unique<ZstdDecoder>();
  if (compression == "bzip2") return std::make_unique<Bzip2Decoder>();
  if (compression == "xz") return std::make_unique<XzDecoder>();
  throw Error(Fault::usage,
              fmt::format("{}: no such compression; there are gzip, zstd, bzip2 and xz", quote(compression)));
}

class DecompressedStream final : public Stream {
 public:
  DecompressedStream(std::unique_ptr<Stream> bytes, std::string_view compression, std::string name)
      : bytes_(std::move(bytes)),
        decoder_(decoder_of(compression)),
        name_(std::move(name)),
        block_(compressed_block) {}

 private:
  std::size_t more(std::span<char> into) override {
    while (true) {
      if (!within_member_ && !next_member()) return 0;
      if (rest_.empty()) refill();
      const Decoded done = decoder_->step(rest_, into);
      rest_ = rest_.subspan(done.taken);
      given_ += done.given;
      if (!done.problem.empty()) corrupt(done.problem, done.cure);
      if (done.member_ended) within_member_ = false;
      if (done.given > 0) return done.given;
      if (!done.member_ended && done.taken == 0) {
        if (!rest_.empty()) corrupt("invalid data", done.cure);
        truncated();
      }
    }
  }

  // Steps over padding to the next member; false at the end of the bytes.
  bool next_member() {
    if (const std::size_t unit = decoder_->padding_unit(); members_ > 0 && unit > 0) {
      const std::size_t zeros = skip_zeros();
      if (zeros % unit != 0) {
        fail(
            fmt::format("the padding behind a stream has {} bytes where multiples of {} are allowed", zeros, unit));
      }
    }
    constexpr std::size_t longest_magic = 6;
    if (rest_.size() < longest_magic) refill();
    if (rest_.empty() && members_ > 0) return false;
    const std::string_view head(rest_.data(), rest_.size());
    if (members_ > 0 && !decoder_->begins(head)) {
      constexpr std::size_t shown = 8;
      fail(
          fmt::format("{} follows the end of the {} stream", quote(head.substr(0, shown)), decoder_->name()),
          fmt::format("remove what does not belong to the file, or decompress it with {} first", decoder_->name()));
    }
    decoder_->begin();
    within_member_ = true;
    ++members_;
    return true;
  }

  std::size_t skip_zeros() {
    std::size_t zeros = 0;
    while (true) {
      if (rest_.empty()) refill();
      const auto run = static_cast<std::size_t>(
          std::find_if(rest_.begin(), rest_.end(), [](char c) { return c != '\0'; }) - rest_.begin());
      rest_ = rest_.subspan(run);
      zeros += run;
      if (run == 0 || !rest_.empty()) return zeros;
    }
  }

  // Puts more bytes behind the rest, as far as there are any.
  void refill() {
    std::copy(rest_.begin(), rest_.end(), block_.begin());
    const std::size_t kept = rest_.size();
    rest_ = std::span(block_).first(kept + bytes_->read(std::span(block_).subspan(kept)));
  }

  [[noreturn]] void fail(const std::string& what, std::string_view advice = Decoded{}.cure) const {
    throw Error(Fault::input, fmt::format("{}: {}, after {} decompressed bytes: {}", name_, what, given_, advice));
  }
  [[noreturn]] void truncated() const {
    fail(fmt::format("the {} stream is cut off: the file ends in the middle of it", decoder_->name()));
  }
  [[noreturn]] void corrupt(std::string_view problem, std::string_view advice) const {
    fail(fmt::format("the {} stream cannot be decompressed ({})", decoder_->name(), problem), advice);
  }

  std::unique_ptr<Stream> bytes_;
  std::unique_ptr<Decoder> decoder_;
  std::string name_;
  std::vector<char> block_;
  std::span<char> rest_;  // of block_: read, not yet decoded
  std::size_t given_ = 0;
  std::size_t members_ = 0;
  bool within_member_ = false;
};

}  // namespace

std::unique_ptr<Stream> decompressed(std::unique_ptr<Stream> bytes, std::string_view compression,
                                     std::string name) {
  return std::make_unique<DecompressedStream>(std::move(bytes), compression, std::move(name));
}

}  // namespace fenchel::data
