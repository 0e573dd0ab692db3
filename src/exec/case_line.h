// Case lines are words of the model, because vectors are written with them too.
#pragma once

#include "exec/case_data.h"
#include "model/case_line.h"
