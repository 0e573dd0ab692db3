#include "device/sim/attention.h"

namespace opwright::sim {

extern const Kernel kPagedScaledDotProductAttentionDecodeKernel{
    .op = "ttnn.transformer.paged_scaled_dot_product_attention_decode", .admit = admit_attention, .run = decode};

}  // namespace opwright::sim
