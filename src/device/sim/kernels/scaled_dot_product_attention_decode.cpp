#include "device/sim/attention.h"

namespace opwright::sim {

extern const Kernel kScaledDotProductAttentionDecodeKernel{
    .op = "ttnn.transformer.scaled_dot_product_attention_decode", .admit = admit_attention, .run = decode};

}  // namespace opwright::sim
