#include "cli/model_input.hpp"

#include <array>

#include <fmt/format.h>

#include "cli/arguments.hpp"
#include "fenchel/base/error.hpp"
#include "fenchel/model/file.hpp"

namespace fenchel::cli {

ModelFormat model_format(data::Source& source, std::string_view wanted) {
  constexpr std::array<std::string_view, 3> names{"fenchel", "liblinear", "weights"};
  if (wanted == names[0]) return ModelFormat::fenchel;
  if (wanted == names[1]) return ModelFormat::liblinear;
  if (wanted == names[2]) return ModelFormat::weights;
  if (!wanted.empty()) refuse_name("--model-format", wanted, names, {});
  if (model::is_model(source.text())) return ModelFormat::fenchel;
  if (model::is_liblinear(source.text())) return ModelFormat::liblinear;
  throw Error(Fault::input, fmt::format("{}: is neither a model of fenchel nor one of LIBLINEAR", source.name()));
}

AnyModel read_model(data::Source& source, ModelFormat format) {
  if (format == ModelFormat::fenchel) return model::deserialize(source.text(), source.name());
  if (format == ModelFormat::liblinear) return model::read_liblinear(source.text(), source.name());
  throw Error(Fault::usage,
              "--model-format weights is for certify only: a list of weights does not say what it predicts");
}

}  // namespace fenchel::cli
