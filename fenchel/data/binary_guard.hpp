// Checks the blocks of a mapped .fbin file before their first use.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "fenchel/data/array.hpp"
#include "fenchel/data/binary_blocks.hpp"
#include "fenchel/data/matrix.hpp"
#include "fenchel/data/source.hpp"

namespace fenchel::data {

using AnyLines = std::variant<BinaryLines<double>, BinaryLines<float>>;

// The content of a .fbin file whose header is right.
struct BinaryFile {
  std::string name;
  std::string_view text;
  std::shared_ptr<const void> owner;
  BinaryLayout layout;

  // The numbers of a section; none where it is absent.
  template <class T>
  [[nodiscard]] std::span<const T> numbers(SectionKind kind) const {
    const Section* const section = layout.find(kind);
    if (section == nullptr) return {};
    return {reinterpret_cast<const T*>(text.data() + section->offset), section->bytes / sizeof(T)};
  }
  template <class T>
  [[nodiscard]] Array<T> array(SectionKind kind, std::shared_ptr<const FirstUse> check = nullptr) const {
    return {numbers<T>(kind), owner, std::move(check)};
  }

  [[nodiscard]] AnyLines rows() const;
  [[nodiscard]] AnyLines columns() const;  // only with a column form

  // Throws Error(Fault::input) about a part of the file: "NAME: rows 1 to 4096 are damaged: reason; cure".
  [[noreturn]] void damaged(std::string_view what, std::uint64_t first, std::uint64_t last,
                            std::string_view reason) const;
  // The targets and qids, which are read without a guard: all of them, in parallel.
  void check_labels() const;
  // The bytes between the sections.
  void check_padding() const;
};

class LinesGuard final : public RowGuard {
 public:
  // Guards the rows, or the columns of the column form.
  static std::shared_ptr<const LinesGuard> of_rows(std::shared_ptr<const BinaryFile> file);
  static std::shared_ptr<const LinesGuard> of_columns(std::shared_ptr<const BinaryFile> file);

  [[nodiscard]] const std::shared_ptr<const BinaryFile>& file() const { return file_; }
  void ensure_all() const;  // in parallel

 private:
  LinesGuard(std::shared_ptr<const BinaryFile> file, AnyLines lines, std::string_view what);
  void check(std::size_t block) const override;

  std::shared_ptr<const BinaryFile> file_;
  AnyLines lines_;
  std::string_view what_;
  std::span<const std::uint64_t> checksums_;
};

// Checksums of blocks of targets and qids, either of which may be empty.
[[nodiscard]] std::uint64_t label_checksum(std::span<const double> targets, std::span<const std::int64_t> query,
                                           std::uint64_t block);

}  // namespace fenchel::data
