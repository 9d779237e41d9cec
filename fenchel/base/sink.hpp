// Where bytes go: a file that appears whole or not at all, a compressor in front of one, a string.
#pragma once

#include <string>
#include <string_view>

namespace fenchel {

class Sink {
 public:
  virtual ~Sink() = default;

  // Error(Fault::failure) where the bytes cannot be written.
  virtual void write(std::string_view bytes) = 0;
  // Everything was written: the file gets its name. A sink that goes without finish() leaves nothing behind.
  virtual void finish() = 0;
};

class StringSink final : public Sink {
 public:
  void write(std::string_view bytes) override { text_ += bytes; }
  void finish() override {}
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace fenchel
