// The sequence of a fused test as a picture: inputs, weights, operations, outputs; on each edge the bytes that it
// carries on one chip. Edges that only the sequence sees stand out: a fused operator neither writes nor reads them.
#pragma once

#include <string>

#include "fuse/fused_test.h"

namespace opwright::fuse {

// An SVG element, with colours from the page's variables (report_page.cpp). The same test gives the same bytes.
std::string picture_of(const FusedTest& test, const ParameterSet& set);

// Text of others in HTML and SVG.
std::string html_text(std::string_view text);

}  // namespace opwright::fuse
