// The list of penalties: a new one is one more header and one more entry here.
#pragma once

#include <variant>

#include "fenchel/penalty/elastic_net.hpp"
#include "fenchel/penalty/l1.hpp"
#include "fenchel/penalty/l2.hpp"
#include "fenchel/penalty/none.hpp"

namespace fenchel::penalty {

using Any = std::variant<L2, L1, ElasticNet, None>;

}  // namespace fenchel::penalty
