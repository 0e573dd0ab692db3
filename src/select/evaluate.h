// Whether a configuration is what a selector asks for.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "model/op_config.h"
#include "select/selector.h"

namespace opwright::select {

// What a selector is asked about. Views: everything must live as long as the call.
struct Subject {
  const OpConfig& config;
  std::span<const std::string_view> models = {};    // short model names and full source texts of its sightings
  std::span<const std::string_view> machines = {};  // every text a machine is known by: "Wormhole n300 x1", "n300"
  std::int64_t calls = 0;
  std::int64_t raised = 0;      // how many of the calls raised
  std::string_view error = {};  // one example; "" none
};

bool matches(const Selector& selector, const Subject& subject);

// How many elements; saturates: no tensor has more than 2^63 - 1.
std::int64_t volume_of(const Shape& shape);

}  // namespace opwright::select
