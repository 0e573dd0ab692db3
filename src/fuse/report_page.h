// report.html of a fused test: one file without anything from outside. The sequence as a picture, before and after, the
// 15 steps with their evidence, the parameters.
#pragma once

#include <string>

#include "fuse/report.h"

namespace opwright::fuse {

std::string report_page(const Report& report);

}  // namespace opwright::fuse
