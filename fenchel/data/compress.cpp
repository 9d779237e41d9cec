#include "fenchel/data/compress.hpp"

#include <algorithm>
#include <cstddef>
#include <new>
#include <span>
#include <utility>
#include <vector>

#include <bzlib.h>
#include <fmt/format.h>
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include "fenchel/base/error.hpp"
#include "fenchel/data/source.hpp"

namespace fenchel::data {

namespace {

constexpr std::size_t compressed_room = std::size_t{1} << 18;

struct Encoded {
  std::size_t taken = 0;
  std::size_t given = 0;
  bool ended = false;  // only when nothing more comes
};

class Encoder {
 public:
  virtual ~Encoder() = default;
  // At most compressed_room bytes each. `last`: nothing follows `in`. Asked again until everything was taken and, at
  // the end, `ended`.
  virtual Encoded step(std::span<char> in, std::span<char> out, bool last) = 0;
};

// The libraries promise to fail only for want of memory, or when they are called wrongly.
void require_encoded(bool succeeded) {
  if (!succeeded) throw std::bad_alloc();
}

class GzipEncoder final : public Encoder {
 public:
  GzipEncoder() {
    constexpr int level = 6, with_gzip_header = 15 + 16, memory = 8;
    require_encoded(::deflateInit2(&state_, level, Z_DEFLATED, with_gzip_header, memory, Z_DEFAULT_STRATEGY) ==
                    Z_OK);
  }
  ~GzipEncoder() override { ::deflateEnd(&state_); }
  GzipEncoder(const GzipEncoder&) = delete;
  GzipEncoder& operator=(const GzipEncoder&) = delete;

  Encoded step(std::span<char> in, std::span<char> out, bool last) override {
    const auto offered = static_cast<unsigned>(in.size()), room = static_cast<unsigned>(out.size());
    state_.next_in = reinterpret_cast<Bytef*>(in.data());
    state_.avail_in = offered;
    state_.next_out = reinterpret_cast<Bytef*>(out.data());
    state_.avail_out = room;
    const int code = ::deflate(&state_, last ? Z_FINISH : Z_NO_FLUSH);
    require_encoded(code == Z_OK || code == Z_STREAM_END || code == Z_BUF_ERROR);
    return {offered - state_.avail_in, room - state_.avail_out, code == Z_STREAM_END};
  }

 private:
  z_stream state_ = {};
};

class ZstdEncoder final : public Encoder {
 public:
  ZstdEncoder() : state_(::ZSTD_createCCtx(), &::ZSTD_freeCCtx) {
    constexpr int level = 3;
    require_encoded(state_ != nullptr);
    ::ZSTD_CCtx_setParameter(state_.get(), ZSTD_c_compressionLevel, level);
    ::ZSTD_CCtx_setParameter(state_.get(), ZSTD_c_checksumFlag, 1);
  }

  Encoded step(std::span<char> in, std::span<char> out, bool last) override {
    ZSTD_inBuffer from{in.data(), in.size(), 0};
    ZSTD_outBuffer to{out.data(), out.size(), 0};
    const std::size_t left = ::ZSTD_compressStream2(state_.get(), &to, &from, last ? ZSTD_e_end : ZSTD_e_continue);
    require_encoded(::ZSTD_isError(left) == 0);
    return {from.pos, to.pos, last && left == 0};
  }

 private:
  std::unique_ptr<ZSTD_CCtx, decltype(&::ZSTD_freeCCtx)> state_;
};

class Bzip2Encoder final : public Encoder {
 public:
  Bzip2Encoder() {
    constexpr int level = 9;
    require_encoded(::BZ2_bzCompressInit(&state_, level, 0, 0) == BZ_OK);
  }
  ~Bzip2Encoder() override { ::BZ2_bzCompressEnd(&state_); }
  Bzip2Encoder(const Bzip2Encoder&) = delete;
  Bzip2Encoder& operator=(const Bzip2Encoder&) = delete;

  Encoded step(std::span<char> in, std::span<char> out, bool last) override {
    const auto offered = static_cast<unsigned>(in.size()), room = static_cast<unsigned>(out.size());
    state_.next_in = in.data();
    state_.avail_in = offered;
    state_.next_out = out.data();
    state_.avail_out = room;
    const int code = ::BZ2_bzCompress(&state_, last ? BZ_FINISH : BZ_RUN);
    require_encoded(code == BZ_RUN_OK || code == BZ_FINISH_OK || code == BZ_STREAM_END);
    return {offered - state_.avail_in, room - state_.avail_out, code == BZ_STREAM_END};
  }

 private:
  bz_stream state_ = {};
};

class XzEncoder final : public Encoder {
 public:
  XzEncoder() {
    constexpr std::uint32_t level = 6;
    require_encoded(::lzma_easy_encoder(&state_, level, LZMA_CHECK_CRC64) == LZMA_OK);
  }
  ~XzEncoder() override { ::lzma_end(&state_); }
  XzEncoder(const XzEncoder&) = delete;
  XzEncoder& operator=(const XzEncoder&) = delete;

  Encoded step(std::span<char> in, std::span<char> out, bool last) override {
    state_.next_in = reinterpret_cast<std::uint8_t*>(in.data());
    state_.avail_in = in.size();
    state_.next_out = reinterpret_cast<std::uint8_t*>(out.data());
    state_.avail_out = out.size();
    const lzma_ret code = ::lzma_code(&state_, last ? LZMA_FINISH : LZMA_RUN);
    require_encoded(code == LZMA_OK || code == LZMA_STREAM_END || code == LZMA_BUF_ERROR);
    return {in.size() - state_.avail_in, out.size() - state_.avail_out, code == LZMA_STREAM_END};
  }

 private:
  lzma_stream state_ = LZMA_STREAM_INIT;
};

std::unique_ptr<Encoder> encoder_of(std::string_view compression) {
  if (compression == "gzip") return std::make_unique<GzipEncoder>();
  if (compression == "zstd") return std::make_unique<ZstdEncoder>();
  if (compression == "bzip2") return std::make_unique<Bzip2Encoder>();
  if (compression == "xz") return std::make_unique<XzEncoder>();
  throw Error(Fault::usage,
              fmt::format("{}: no such compression; there are gzip, zstd, bzip2 and xz", quote(compression)));
}

class CompressingSink final : public Sink {
 public:
  CompressingSink(std::unique_ptr<Sink> out, std::string_view compression)
      : out_(std::move(out)), encoder_(encoder_of(compression)), block_(compressed_room) {}

  // Through a block of our own: the libraries ask for bytes that they might change, though they never do.
  void write(std::string_view bytes) override {
    while (!bytes.empty()) {
      const std::size_t count = std::min(bytes.size(), block_.size() / 2);
      std::copy_n(bytes.begin(), count, block_.begin());
      bytes.remove_prefix(count);
      pump(std::span(block_).first(count), false);
    }
  }
  void finish() override {
    pump({}, true);
    out_->finish();
  }

 private:
  void pump(std::span<char> in, bool last) {
    const std::span<char> room = std::span(block_).subspan(block_.size() / 2);
    while (true) {
      const Encoded done = encoder_->step(in, room, last);
      in = in.subspan(done.taken);
      if (done.given > 0) out_->write({room.data(), done.given});
      if (last ? done.ended : in.empty()) return;
    }
  }

  std::unique_ptr<Sink> out_;
  std::unique_ptr<Encoder> encoder_;
  std::vector<char> block_;  // half for what comes, half for what goes
};

}  // namespace

std::unique_ptr<Sink> compressed(std::unique_ptr<Sink> out, std::string_view compression) {
  return std::make_unique<CompressingSink>(std::move(out), compression);
}

}  // namespace fenchel::data
