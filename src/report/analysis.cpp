#include "model/case_record.h"
