import ttnn
from tests.sweep_framework.master_config_loader import MasterConfigLoader
from tests.sweep_framework.sweep_utils.traced import tensor, timed

TIMEOUT = 30
loader = MasterConfigLoader()
model_traced_params = loader.get_suite_parameters("conv2d", all_cases=False)
parameters = {}
if model_traced_params:
    parameters["model_traced"] = model_traced_params


def run(input_specs, is_conv1d=False, compute_config=None, dtype="bfloat16", config_tensors_in_dram=None, *, device, **kwargs) -> list:
    batch, out_channels, in_channels, height, width, kh, kw, sh, sw, ph, pw, groups, dh, dw, has_bias = input_specs
    given = tensor((1, 1, batch * height * width, in_channels), ttnn.bfloat16, ttnn.ROW_MAJOR_LAYOUT, None, device)
    weight = tensor((out_channels, in_channels // groups, kh, kw), ttnn.bfloat16, ttnn.ROW_MAJOR_LAYOUT, None, device, "HOST")
    bias = tensor((1, 1, 1, out_channels), ttnn.bfloat16, ttnn.ROW_MAJOR_LAYOUT, None, device, "HOST") if has_bias else None
    return timed(
        ttnn.conv2d, input_tensor=given, weight_tensor=weight, bias_tensor=bias, in_channels=in_channels,
        out_channels=out_channels, batch_size=batch, input_height=height, input_width=width, kernel_size=(kh, kw),
        stride=(sh, sw), padding=(ph, pw), dilation=(dh, dw), groups=groups, device=device,
        dtype=getattr(ttnn, dtype) if isinstance(dtype, str) else dtype,
    )
