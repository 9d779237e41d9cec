#pragma once

#include <memory>
#include <string_view>

#include "fenchel/base/sink.hpp"

namespace fenchel::data {

std::unique_ptr<Sink> compressed(std::unique_ptr<Sink> out, std::string_view compression);

}  // namespace fenchel::data
