// The program configuration that the library chooses for a matmul whose call names none.
#pragma once

#include <optional>

#include "dialect/ttnn/matmul_operands.h"
#include "dialect/ttnn/matmul_program.h"

namespace opwright {

// `core_grid`: the grid that the call asks for, if it does.
Checked<MatmulProgram> chosen_program(const BoundCall& call, const MatmulOperands& operands,
                                      std::optional<CoreCoord> core_grid, const Board& board);

}  // namespace opwright
