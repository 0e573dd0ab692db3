// "did you mean …?": the known names that somebody who typed `wanted` may have meant.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace opwright {

// The best candidates first, at most `max`, none when nothing is near: a bad suggestion is worse than no suggestion.
// Case does not count, and `::` is `.`. Near is: a few typing errors away (swapped neighbours are one error), a
// beginning, or a part. A dotted name is also near when its last component is, so `ad` finds `ttnn.add`.
// The views point into `known`.
std::vector<std::string_view> near_names(std::string_view wanted, std::span<const std::string_view> known,
                                         std::size_t max = 3);

// "; did you mean 'a', 'b' or 'c'?", or "" when there is no candidate: made to be put behind a message.
std::string did_you_mean(std::span<const std::string_view> candidates);

}  // namespace opwright
