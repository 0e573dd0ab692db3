/* A program that calls operators as PyTorch names them, and records each through opwright/capture.h: a second dialect
 * beside ttnn. It computes nothing. What it shows is how the words of ATen are described: overloads in the name,
 * tensors with strides and a device, scalars, lists of tensors, None, keyword-only arguments, dtypes, memory formats.
 *
 *     OPWRIGHT_TRACE=trace build/release/examples/aten_program && opwright import trace && opwright show aten.add
 */
#include <opwright/capture.h>
#include <stdio.h>
#include <stdlib.h>

enum { kMostDims = 4 };

typedef struct Tensor {
  uint64_t id;
  int rank;
  int64_t shape[kMostDims];
  int64_t strides[kMostDims];
  const char* dtype; /* as PyTorch prints it */
  const char* device;
} Tensor;

static uint64_t tensors_made = 0;

/* A tensor without gaps. */
static Tensor tensor(const char* dtype, const char* device, int rank, const int64_t* shape) {
  Tensor made = {++tensors_made, rank, {0}, {0}, dtype, device};
  int64_t stride = 1;
  for (int i = rank - 1; i >= 0; --i) {
    made.shape[i] = shape[i];
    made.strides[i] = stride;
    stride *= shape[i];
  }
  return made;
}
#define TENSOR(dtype, device, ...) \
  tensor(dtype, device, (int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (const int64_t[]){__VA_ARGS__})

/* The same memory with its first two dimensions exchanged. */
static Tensor transposed(Tensor of) {
  Tensor turned = of;
  turned.id = ++tensors_made;
  turned.shape[0] = of.shape[1];
  turned.shape[1] = of.shape[0];
  turned.strides[0] = of.strides[1];
  turned.strides[1] = of.strides[0];
  return turned;
}

static void put_ints(opwright_call* call, int count, const int64_t* numbers) {
  opwright_put_list(call, (uint32_t)count);
  for (int i = 0; i < count; ++i) opwright_put_int(call, numbers[i]);
}

static void put_tensor(opwright_call* call, const Tensor* of) {
  if (call == NULL) return;
  opwright_call* spec = opwright_value();
  opwright_put_struct(spec, "torch.Tensor", 4);
  opwright_put_field(spec, "shape");
  put_ints(spec, of->rank, of->shape);
  opwright_put_field(spec, "dtype");
  opwright_put_string(spec, of->dtype);
  opwright_put_field(spec, "strides");
  put_ints(spec, of->rank, of->strides);
  opwright_put_field(spec, "device");
  opwright_put_string(spec, of->device);
  const opwright_tensor described = {of->id, 0, of->id, 0, 0, opwright_keep(spec)};
  opwright_put_tensor(call, &described);
}

static void arg_tensor(opwright_call* call, const char* keyword, const Tensor* of) {
  opwright_arg(call, keyword);
  put_tensor(call, of);
}
static void arg_int(opwright_call* call, const char* keyword, int64_t number) {
  opwright_arg(call, keyword);
  opwright_put_int(call, number);
}
static void arg_ints(opwright_call* call, const char* keyword, int count, const int64_t* numbers) {
  opwright_arg(call, keyword);
  put_ints(call, count, numbers);
}
/* torch.float16, torch.channels_last: words of torch with the class they are of. */
static void arg_word(opwright_call* call, const char* keyword, const char* type, const char* word) {
  opwright_arg(call, keyword);
  opwright_put_enum(call, type, word);
}
static void returns(opwright_call* call, const Tensor* result) {
  opwright_run(call);
  put_tensor(call, result);
  opwright_end(call);
}

/* One step of a small decoder: 2 sequences of 8 tokens, 64 wide, 1000 words. */
static void step(const char* device) {
  const Tensor tokens = TENSOR("torch.int64", device, 2, 8);
  const Tensor words = TENSOR("torch.float16", device, 1000, 64);
  const Tensor states = TENSOR("torch.float16", device, 16, 64);
  const Tensor weight = TENSOR("torch.float16", device, 64, 64);
  const Tensor turned = transposed(weight);
  const Tensor wide = TENSOR("torch.float32", device, 16, 64);
  const Tensor mask = TENSOR("torch.bool", device, 16, 64);
  const Tensor best = TENSOR("torch.int64", device, 16);

  opwright_call* call = opwright_begin("aten::embedding");
  arg_tensor(call, NULL, &words);
  arg_tensor(call, NULL, &tokens);
  const Tensor found = TENSOR("torch.float16", device, 2, 8, 64);
  returns(call, &found);

  call = opwright_begin("aten::view");
  arg_tensor(call, NULL, &found);
  arg_ints(call, NULL, 2, (const int64_t[]){16, 64});
  returns(call, &states);

  call = opwright_begin("aten::addmm"); /* the weight is read through its transpose: strides (1, 64) */
  arg_tensor(call, NULL, &states);
  arg_tensor(call, NULL, &states);
  arg_tensor(call, NULL, &turned);
  arg_int(call, "beta", 1);
  opwright_arg(call, "alpha");
  opwright_put_float(call, 0.125);
  returns(call, &states);

  call = opwright_begin("aten::add.Tensor"); /* alpha is keyword-only, a Scalar */
  arg_tensor(call, NULL, &states);
  arg_tensor(call, NULL, &states);
  arg_int(call, "alpha", 2);
  returns(call, &states);

  call = opwright_begin("aten::add.Scalar");
  arg_tensor(call, NULL, &tokens);
  arg_int(call, NULL, 1);
  returns(call, &tokens);

  call = opwright_begin("aten::cat"); /* a list of tensors */
  opwright_arg(call, NULL);
  opwright_put_list(call, 3);
  put_tensor(call, &states);
  put_tensor(call, &states);
  put_tensor(call, &turned);
  arg_int(call, NULL, 0);
  const Tensor longer = TENSOR("torch.float16", device, 96, 64);
  returns(call, &longer);

  call = opwright_begin("aten::clamp"); /* no lower bound: None */
  arg_tensor(call, NULL, &states);
  opwright_arg(call, NULL);
  opwright_put_null(call);
  opwright_arg(call, NULL);
  opwright_put_float(call, 6.0);
  returns(call, &states);

  call = opwright_begin("aten::_to_copy"); /* everything behind the tensor is keyword-only */
  arg_tensor(call, NULL, &states);
  arg_word(call, "dtype", "torch.dtype", "float32");
  opwright_arg(call, "device");
  opwright_put_string(call, device);
  arg_word(call, "memory_format", "torch.memory_format", "contiguous_format");
  returns(call, &wide);

  call = opwright_begin("aten::masked_fill.Scalar");
  arg_tensor(call, NULL, &wide);
  arg_tensor(call, NULL, &mask);
  opwright_arg(call, NULL);
  opwright_put_float(call, -65504.0);
  returns(call, &wide);

  call = opwright_begin("aten::argmax");
  arg_tensor(call, NULL, &wide);
  arg_int(call, NULL, -1);
  returns(call, &best);

  call = opwright_begin("aten::fft_fft"); /* in no table of ours: recorded all the same */
  arg_tensor(call, NULL, &wide);
  const Tensor spectrum = TENSOR("torch.complex64", device, 16, 64);
  returns(call, &spectrum);
}

int main(int count, char** words) {
  const char* device = count > 1 ? words[1] : "cuda:0";
  opwright_options options = OPWRIGHT_OPTIONS;
  options.folder = getenv("OPWRIGHT_TRACE");
  options.stem = "aten";
  if (options.folder != NULL) {
    char message[512];
    if (opwright_open(&options, message, sizeof message) != 0) {
      fprintf(stderr, "opwright: %s\n", message);
      return 1;
    }
    opwright_test("decoder.c");
  }
  step("cpu");
  opwright_phase("decode");
  step(device);
  step(device);

  /* The same call by the name that PyTorch prints, by the names of its parameters, and with a second name of the dtype.
   */
  const Tensor states = TENSOR("torch.half", device, 16, 64);
  opwright_call* call = opwright_begin("aten.clamp.default");
  arg_tensor(call, "self", &states);
  opwright_arg(call, "min");
  opwright_put_null(call);
  opwright_arg(call, "max");
  opwright_put_float(call, 6.0);
  returns(call, &states);

  call = opwright_begin("aten::matmul");
  const Tensor short_one = TENSOR("torch.float16", device, 16, 65);
  arg_tensor(call, NULL, &states);
  arg_tensor(call, NULL, &short_one);
  opwright_run(call);
  opwright_failed(call, "RuntimeError", "mat1 and mat2 shapes cannot be multiplied (16x64 and 16x65)");
  opwright_end(call);
  opwright_close();
  return 0;
}
