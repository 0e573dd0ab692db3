#include "select/evaluate.h"

#include <gtest/gtest.h>

#include <array>

#include "select/test_subjects.h"

namespace opwright::select {
namespace {

// Asked about test_subjects.h's matmul, seen in two models on one machine; two of its 45 calls raised.
bool holds(std::string_view text, const OpConfig& config = matmul_config()) {
  static constexpr std::array<std::string_view, 2> kModels{"Llama-3.2-1B",
                                                           "models/demos/llama/demo.py::test_demo[batch 1]"};
  static constexpr std::array<std::string_view, 2> kMachines{"Wormhole n300 x1", "n300"};
  const auto selector = parse_selector(text);
  EXPECT_TRUE(selector) << selector.error().message;
  return selector && matches(*selector, Subject{config, kModels, kMachines, 45, 2, "RuntimeError: TT_FATAL @ a.cpp"});
}

#define EXPECT_HOLDS(...)                                                                    \
  for (const std::string_view text : std::initializer_list<std::string_view>{__VA_ARGS__}) { \
    EXPECT_TRUE(holds(text)) << text;                                                        \
  }
#define EXPECT_NOT(...)                                                                      \
  for (const std::string_view text : std::initializer_list<std::string_view>{__VA_ARGS__}) { \
    EXPECT_FALSE(holds(text)) << text;                                                       \
  }

TEST(Evaluate, Everything) { EXPECT_HOLDS(""); }

TEST(Evaluate, OperatorsByFullNameByEndAndByPart) {
  EXPECT_HOLDS("op=matmul", "op=ttnn.matmul", "op=ttnn::matmul", "OP=TTNN::MatMul", "op~mat", "op~ttnn::m",
               "op in (add, matmul)", "op!=add");
  EXPECT_NOT("op=mat", "op=ttnn", "op=nn.matmul", "op=x.ttnn.matmul", "op~rotary", "op!=matmul", "op in (add, mul)");
  OpConfig config;
  config.op = "ttnn.transformer.softmax";
  EXPECT_TRUE(holds("op=softmax and op=transformer.softmax and op=ttnn.transformer.softmax", config));
  EXPECT_FALSE(holds("op=ttnn.softmax or op=transformer", config));
}

TEST(Evaluate, TensorFieldsHoldWhenAnyTensorHasThem) {
  EXPECT_HOLDS("dtype=BFLOAT8_B", "dtype=bfloat16", "dtype=bfloat8_b and layout=tile",
               "dtype in (BFLOAT8_B, BFLOAT4_B)", "dtype~float8", "layout=TILE", "storage=DEVICE", "rank=4", "rank=2",
               "rank>=3", "rank<3", "shape=[1,1,12544,*]", "shape=[...,32]", "shape=[32,64]", "dim[-1]=64",
               "dim[-1]=32", "dim[2]>1024", "dim[0]=1", "dim[-4]=1", "volume>4e5", "volume=2048");
  EXPECT_NOT("dtype=FLOAT32", "layout=ROW_MAJOR", "storage=HOST", "rank=3", "rank>4", "rank<2", "shape=[1,1,32,*]",
             "dim[-1]>1024", "dim[7]=1", "dim[-5]=1", "dim[9223372036854775807]=1", "dim[-9223372036854775808]=1",
             "volume>1e6");
}

TEST(Evaluate, NotEqualMeansNoTensorHasIt) {
  EXPECT_NOT("dtype!=BFLOAT16", "dtype!=BFLOAT8_B", "rank!=2", "dtype not in (BFLOAT16)");
  EXPECT_HOLDS("dtype!=FLOAT32", "rank!=3", "dim[7]!=1", "shape!=[1]", "dtype not in (FLOAT32, UINT8)");
}

TEST(Evaluate, APrefixAsksOneTensor) {
  EXPECT_HOLDS("in0.dtype=BFLOAT8_B", "in1.dtype=BFLOAT16", "in1.rank=2", "in0.sharded", "in1.dim[1]=64",
               "in0.dtype!=BFLOAT16", "in0.shard=[224,32]", "in1.buffer=DRAM", "in2.dtype!=BFLOAT16");
  EXPECT_NOT("in0.dtype=BFLOAT16", "in1.rank=4", "in1.sharded", "in2.rank=2", "in0.shard=[448,64]",
             "in2.memory=HEIGHT_SHARDED");
}

TEST(Evaluate, MemoryFieldsLookAtTensorsAndAtArguments) {
  EXPECT_HOLDS("memory=HEIGHT_SHARDED", "memory=INTERLEAVED", "buffer=L1", "buffer=DRAM", "sharded", "shard=[224,32]",
               "shard=[448,64]", "shard=[*,64]", "orientation=ROW_MAJOR", "memory~sharded");
  EXPECT_NOT("memory=BLOCK_SHARDED", "buffer=L1_SMALL", "not sharded", "shard=[224]", "orientation=COL_MAJOR");
  OpConfig only_argument;
  only_argument.args.push_back({"configs", Value(List{Value::memory(sharded_memory({8, 8}))})});
  EXPECT_TRUE(holds("sharded and shard=[8,8] and buffer=L1", only_argument));
}

TEST(Evaluate, WhatATraceDoesNotSayMatchesNothing) {
  OpConfig config;
  config.args.push_back({"a", Value::tensor(TensorSpec{})});
  for (const std::string_view text :
       {"dtype~a", "layout~a", "storage~a", "rank>=0", "volume>=0", "shape=[...]", "dim[0]>=0", "memory~a", "buffer~a",
        "sharded", "shard=[...]", "orientation~a", "arg.b", "model~a", "op~a"}) {
    const auto selector = parse_selector(text);
    ASSERT_TRUE(selector) << text;
    EXPECT_FALSE(matches(*selector, Subject{config})) << text;
  }
  EXPECT_TRUE(holds("tensors=1 and arg.a", config));
}

TEST(Evaluate, UnknownNamesOfATraceAreFoundByTheirText) {
  OpConfig config;
  config.args.push_back({"a", Value::tensor(tensor({}, "FLOAT8_E4M3", "TILE", interleaved_memory("L1")))});
  EXPECT_TRUE(holds("dtype~e4m3", config));
  EXPECT_TRUE(holds("rank=0 and volume=1 and shape=[]", config));
}

TEST(Evaluate, DeviceAndStridesOfATensor) {
  OpConfig config;
  TensorSpec turned = tensor({64, 32}, "INT64", "", {});
  turned.more.emplace_back("device", Value("cuda:0"));
  turned.more.emplace_back("strides", Value(List{Value(std::int64_t{1}), Value(std::int64_t{64})}));
  config.args.push_back({"a", Value::tensor(turned)});
  TensorSpec odd = tensor({2}, "INT64", "", {});  // fields of these names that are something else
  odd.more.emplace_back("device", Value(std::int64_t{3}));
  odd.more.emplace_back("strides", Value("[1]"));
  config.args.push_back({"b", Value::tensor(odd)});
  for (const char* text : {"dtype=int64", "dtype=torch.int64", "device=cuda:0", "device=CUDA:0", "device~cuda",
                           "in0.device in (cpu, cuda:0)", "strides=[1,64]", "strides=[1,*]", "in1.device!=cuda:0"})
    EXPECT_TRUE(holds(text, config)) << text;
  for (const char* text : {"device=cuda", "device~cpu", "in1.device~3", "strides=[64,1]", "in1.strides=[1]",
                           "in0.strides=[1]", "device!=cuda:0"})
    EXPECT_FALSE(holds(text, config)) << text;
}

TEST(Evaluate, VolumesBeyond64BitsAreLarge) {
  OpConfig config;
  config.args.push_back(
      {"a", Value::tensor(tensor({1LL << 40, 1LL << 40}, "UINT8", "TILE", interleaved_memory("L1")))});
  EXPECT_TRUE(holds("volume>1e18", config));
  config.args[0].value = Value::tensor(tensor({1LL << 40, 1LL << 40, 0}, "UINT8", "TILE", interleaved_memory("L1")));
  EXPECT_TRUE(holds("volume=0", config));
}

TEST(Evaluate, ArgumentsByValue) {
  EXPECT_HOLDS("arg.dim=3", "arg.dim=3.0", "arg.DIM=+3", "arg.dim in (1,3)", "arg.dim!=4", "arg.dim>2", "arg.dim<=3",
               "arg.2=7", "arg.arg2=7", "arg.eps=1e-5", "arg.eps=0.00001", "arg.eps<1e-4", "arg.mode=fast.path",
               "arg.mode='Fast::Path'", "arg.mode~PATH", "arg.dtype=BFLOAT16", "arg.dtype=ttnn.bfloat16",
               "arg.dtype=DataType::BFLOAT16", "arg.transpose_b=False",
               "arg.big=340282366920938463463374607431768211455", "arg.big>1e38", "arg.callback=lambda",
               "arg.callback='opaque(Function,\"lambda\")'");
  EXPECT_NOT("arg.dim=4", "arg.dim>3", "arg.dim=true", "arg.absent=3", "arg.absent>0", "arg.eps>1e-5", "arg.mode=fast",
             "arg.dtype=FLOAT32", "arg.dtype=16", "arg.dtype>1", "arg.big<1e38", "arg.transpose_b=0");
}

TEST(Evaluate, AnArgumentAloneIsThereAndNotNone) {
  EXPECT_HOLDS("arg.transpose_b", "arg.dim", "not arg.transpose_a", "not arg.absent", "arg.transpose_a=none",
               "arg.transpose_a=None", "arg.transpose_a=nullopt", "arg.absent!=none");
  EXPECT_NOT("arg.transpose_a", "arg.absent", "arg.absent=none", "arg.transpose_a~none", "arg.transpose_b=none");
}

TEST(Evaluate, ArgumentsThatHoldMore) {
  EXPECT_HOLDS("arg.memory_config~L1", "arg.memory_config~height_sharded", "arg.output_shape=[1,64]",
               "arg.output_shape=[1,*]", "arg.output_shape='Shape([1,64])'", "arg.program_config.in0_block_w=2",
               "arg.program_config.in0_block_w>=2", "arg.program_config.fuse.\"relu 6\"",
               "arg.program_config.grid=[8,7]", "arg.program_config.grid.1=7", "arg.pads.0=.5", "arg.pads='[0.5,true]'",
               "arg.input_tensor_a~BFLOAT8_B", "arg.output_shape.0=[1,64]", "arg.output_shape.0.1=64");
  EXPECT_NOT("arg.memory_config~DRAM", "arg.output_shape=[1]", "arg.output_shape=1", "arg.program_config.in0_block_w=3",
             "arg.program_config.grid.2=7", "arg.program_config.in0_block_w.0=2", "arg.pads=[0,1]",
             "arg.program_config=2", "arg.transpose_a.x", "arg.pads.01=true");
}

TEST(Evaluate, ProvenanceAndKey) {
  EXPECT_HOLDS("model=llama-3.2-1b", "model~llama", "model=\"models/demos/llama/demo.py::test_demo[batch 1]\"",
               "machine=n300", "machine~WORMHOLE", "calls>44", "calls<=45", "calls=45", "key=1aa23d", "key=1",
               "key in (ff, 1A)", "convention=python", "tensors=2", "model!=llama", "model!=efficientnet");
  EXPECT_NOT("model=llama", "model~efficientnet", "machine=n150", "machine~galaxy", "calls>100", "key=1aa23e",
             "convention=cpp", "tensors>2", "model!=Llama-3.2-1B");
}

TEST(Evaluate, AndOrNot) {
  EXPECT_HOLDS("op=matmul and rank=4", "op=add or rank=4", "not op=add", "not (op=add and rank=4)",
               "op=add and rank=9 or sharded");
  EXPECT_NOT("op=matmul and rank=3", "op=add or rank=3", "not op=matmul", "op=add and (rank=9 or sharded)");
}

TEST(Evaluate, CallsThatRaised) {
  EXPECT_HOLDS("raised=2", "raised>0", "raised!=0", "raised in (1, 2)", "error~tt_fatal", "error~'runtimeerror: tt'",
               "error='RUNTIMEERROR: tt_fatal @ a.cpp'", "error!=x", "not error~x");
  EXPECT_NOT("raised=0", "raised>2", "error~ValueError", "error=RuntimeError", "error=\"\"");
  const OpConfig config = matmul_config();
  const auto of_none = [&](std::string_view text) { return matches(*parse_selector(text), Subject{config}); };
  EXPECT_TRUE(of_none("raised=0 and error!=x and not error~e"));  // what is not told matches nothing
  EXPECT_FALSE(of_none("raised>0 or error~e or error=\"\""));
}

}  // namespace
}  // namespace opwright::select
