// Model files as commands take them: our own, or LIBLINEAR's; by content or by name.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include <CLI/CLI.hpp>

#include "fenchel/data/source.hpp"
#include "fenchel/model/foreign.hpp"
#include "fenchel/model/model.hpp"

namespace fenchel::cli {

enum class ModelFormat { fenchel, liblinear, weights };

// What the file is: `wanted` if it names a format (a usage Error if it names none), else by content. Input that is
// neither is bad input; a plain list of weights is never guessed.
ModelFormat model_format(data::Source& source, std::string_view wanted);

using AnyModel = std::variant<model::Model, model::Foreign>;
AnyModel read_model(data::Source& source, ModelFormat format);

}  // namespace fenchel::cli
