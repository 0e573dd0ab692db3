// What every page of ours needs: one file with its style, script and data inside, and nothing else allowed.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace opwright::report {

// JSON inside an element of HTML: only a `<` could end the element, and it stands in strings only.
std::string json_in_html(std::string_view json);
// The source that a Content-Security-Policy allows by its hash. Whatever data might smuggle in has another.
std::string allowed(std::string_view source);
// The policy of a page with this style and these scripts: no network, nothing from elsewhere.
std::string policy_of(std::string_view style, const std::vector<std::string_view>& scripts);
// Replaces {{name}} in one walk over the template, so that a value that contains {{…}} stays as it is.
std::string filled(std::string_view text, const std::vector<std::pair<std::string_view, std::string>>& values);

}  // namespace opwright::report
