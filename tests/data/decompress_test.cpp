// Compressed streams, both ways: everything comes back, in whatever pieces it is asked for, and no damage is overlooked.
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "fenchel/base/error.hpp"
#include "fenchel/base/random.hpp"
#include "fenchel/data/compress.hpp"
#include "fenchel/data/stream.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/streams.hpp"

namespace fenchel::data {
namespace {

using namespace std::string_literals;

// A sink into a string that outlives it.
class Into final : public Sink {
 public:
  explicit Into(std::string& text) : text_(text) {}
  void write(std::string_view bytes) override { text_ += bytes; }
  void finish() override { text_ += "."; }

 private:
  std::string& text_;
};

std::string pack(std::string_view content, std::string_view compression, std::size_t step = 100000) {
  std::string packed;
  const auto sink = compressed(std::make_unique<Into>(packed), compression);
  for (std::size_t at = 0; at < content.size(); at += step) sink->write(content.substr(at, step));
  sink->finish();
  EXPECT_EQ(packed.back(), '.') << "the inner sink was not finished";
  packed.pop_back();
  return packed;
}

std::string unpack(const std::string& packed, std::string_view compression, std::size_t step = 70000,
                   std::size_t in_step = 1000) {
  const auto stream = decompressed(std::make_unique<test::TextStream>(packed, in_step), compression, "f");
  std::string content;
  std::string block(step, '\0');
  while (true) {
    const std::size_t got = stream->read(block);
    content.append(block, 0, got);
    if (got < step) return content;
  }
}

std::string refusal(const std::string& packed, std::string_view compression) {
  return test::refusal(Fault::input, [&] { unpack(packed, compression); });
}

// Something between noise and repetition.
std::string sample(std::size_t lines, std::uint64_t seed = 1) {
  Random random(seed);
  std::string text;
  for (std::size_t i = 0; i < lines; ++i) text += fmt::format("{},{},row\n", i, random.uniform());
  return text;
}

class Compression : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Kinds, Compression, testing::Values("gzip", "zstd", "bzip2", "xz"),
                         [](const auto& kind) { return kind.param; });

TEST_P(Compression, EverythingComesBack) {
  const std::string content = sample(34000);  // several blocks of everybody
  const std::string packed = pack(content, GetParam());
  EXPECT_EQ(compression_of(packed), GetParam());
  EXPECT_LT(packed.size(), content.size());
  EXPECT_EQ(unpack(packed, GetParam()), content);
  const std::string part = content.substr(0, 200000);
  EXPECT_EQ(pack(part, GetParam(), 1 << 20), pack(part, GetParam(), 999));  // cuts do not show
}

TEST_P(Compression, InPiecesOfAnySize) {
  const std::string content = sample(300);
  const std::string packed = pack(content, GetParam(), 7);
  for (const std::size_t step : {1, 2, 3, 4096}) {
    EXPECT_EQ(unpack(packed, GetParam(), step, 1), content);
    EXPECT_EQ(unpack(packed, GetParam(), step, 1 << 20), content);
  }
}

TEST_P(Compression, NothingAndAlmostNothing) {
  for (const std::string& content : {""s, "x"s, "\0"s, std::string(3000000, '0')}) {
    EXPECT_EQ(unpack(pack(content, GetParam()), GetParam()), content);
  }
}

TEST_P(Compression, MembersFollowEachOther) {
  const std::string a = sample(2000, 1), b = sample(10, 2), c = sample(3000, 3);
  const auto packed = [&](std::string_view content) { return pack(content, GetParam()); };
  EXPECT_EQ(unpack(packed(a) + packed("") + packed(b) + packed(c) + packed(""), GetParam()), a + b + c);
  std::string many, contents;
  for (int k = 0; k < 50; ++k) {
    many += packed(fmt::format("{}\n", k));
    contents += fmt::format("{}\n", k);
  }
  EXPECT_EQ(unpack(many, GetParam()), contents);
}

TEST_P(Compression, ManyMembersStraddleTheBlocksOfInput) {
  const std::string noise = sample(4000);
  const std::string packed = pack(noise, GetParam());
  std::string many, contents;
  while (many.size() < 700000) {  // more than two blocks of 256 KiB
    many += packed;
    contents += noise;
  }
  EXPECT_EQ(unpack(many, GetParam()), contents);
}

TEST_P(Compression, EveryTruncationIsNoticed) {
  const std::string content = sample(40);
  const std::string packed = pack(content, GetParam());
  for (std::size_t size = 0; size < packed.size(); ++size) {
    const std::string message = refusal(packed.substr(0, size), GetParam());
    EXPECT_TRUE(message.starts_with(
        fmt::format("f: the {} stream is cut off: the file ends in the middle of it, after ", GetParam())))
        << size << ": " << message;
    EXPECT_TRUE(message.ends_with(" decompressed bytes: copy or download it again")) << message;
  }
  // In a second member too, and the count goes on.
  const std::string message = refusal(packed + packed.substr(0, packed.size() - 1), GetParam());
  EXPECT_TRUE(message.starts_with(fmt::format("f: the {} stream is cut off", GetParam()))) << message;
  const std::string first = refusal(packed + packed.substr(0, 8), GetParam());
  EXPECT_NE(first.find(fmt::format("after {} decompressed bytes", content.size())), std::string::npos) << first;
}

TEST_P(Compression, EveryFlippedBitOfTheBodyIsNoticed) {
  const std::string content = sample(12);
  const std::string packed = pack(content, GetParam());
  // The head of gzip has bytes without meaning (time, system).
  const std::size_t first = GetParam() == "gzip" ? 10 : 0;
  for (std::size_t at = first; at < packed.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = packed;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit));
      try {
        EXPECT_EQ(unpack(damaged, GetParam()), content) << at << " " << bit;
      } catch (const Error& error) {
        EXPECT_EQ(error.fault(), Fault::input);
        EXPECT_TRUE(std::string_view(error.what()).starts_with("f: ")) << error.what();
      }
    }
  }
  std::string damaged = packed;
  damaged[packed.size() / 2] = static_cast<char>(~damaged[packed.size() / 2]);
  refusal(damaged, GetParam());
}

TEST_P(Compression, GarbageBehindTheEndIsNoticed) {
  const std::string packed = pack("content", GetParam());
  EXPECT_EQ(
      refusal(packed + "abc\x01 and more", GetParam()),
      fmt::format("f: 'abc\\x01 and' follows the end of the {0} stream, after 7 decompressed bytes: remove what "
                  "does not belong to the file, or decompress it with {0} first",
                  GetParam()));
  EXPECT_NE(refusal(packed + "x", GetParam()).find("'x' follows the end"), std::string::npos);
}

TEST_P(Compression, WhatIsNotCompressedAtAll) {
  EXPECT_NE(refusal("This is plain text, and quite some of it.", GetParam())
                .find(fmt::format("the {} stream cannot be decompressed (", GetParam())),
            std::string::npos);
}

TEST(Compressions, Padding) {
  const std::string zeros(100000, '\0');
  const std::string gzip = pack("a\n", "gzip"), xz = pack("b\n", "xz");
  EXPECT_EQ(unpack(gzip + zeros, "gzip"), "a\n");
  EXPECT_EQ(unpack(gzip + std::string(3, '\0') + gzip, "gzip"), "a\na\n");
  EXPECT_NE(refusal(gzip + zeros + "x", "gzip").find("'x' follows the end"), std::string::npos);
  EXPECT_EQ(unpack(xz + zeros, "xz"), "b\n");
  EXPECT_EQ(unpack(xz + std::string(8, '\0') + xz + std::string(4, '\0'), "xz"), "b\nb\n");
  EXPECT_EQ(
      refusal(xz + std::string(6, '\0'), "xz"),
      "f: the padding behind a stream has 6 bytes where multiples of 4 are allowed, after 2 decompressed bytes: "
      "copy or download it again");
  for (const std::string compression : {"zstd", "bzip2"}) {
    EXPECT_NE(refusal(pack("c", compression) + std::string(4, '\0'), compression).find("follows the end"),
              std::string::npos);
  }
}

TEST(Compressions, ZstdFramesToBeSkipped) {
  const std::string frame = pack("a\n", "zstd");
  const std::string skipped = "\x5a\x2a\x4d\x18\x05\x00\x00\x00notes"s;
  EXPECT_EQ(unpack(frame + skipped + frame + skipped, "zstd"), "a\na\n");
  EXPECT_NE(refusal(frame + skipped.substr(0, 9), "zstd").find("is cut off"), std::string::npos);
}

TEST(Compressions, WindowsThatNeedTooMuchMemory) {
  // The head of a frame with a window of 2^31 bytes, and of a stream with a dictionary of 3 GiB.
  EXPECT_EQ(
      refusal("\x28\xb5\x2f\xfd\x00\xa8\x01\x00\x00"s, "zstd"),
      "f: the zstd stream cannot be decompressed (its window is larger than 128 MiB), after 0 decompressed bytes: "
      "decompress it with zstd -d --long=31 first");
  const std::string xz_head = "\xfd\x37zXZ\0\0\x04\xe6\xd6\xb4\x46"s;
  const std::string block_head = "\x02\0\x21\x01\x27\0\0\0\xb0\xb0\x72\xeb"s;
  EXPECT_EQ(refusal(xz_head + block_head, "xz"),
            "f: the xz stream cannot be decompressed (its dictionary is larger than 128 MiB), after 0 decompressed "
            "bytes: decompress it with xz -d first");
}

TEST(Compressions, UnknownNames) {
  EXPECT_THROW(decompressed(std::make_unique<test::TextStream>("", 1), "lz4", "f"), Error);
  std::string text;
  EXPECT_THROW(compressed(std::make_unique<Into>(text), "lz4"), Error);
}

}  // namespace
}  // namespace fenchel::data
