#include "select/terms.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/hash.h"
#include "select/evaluate.h"
#include "select/test_subjects.h"

namespace opwright::select {
namespace {

std::vector<Term> terms_of(const OpConfig& config) {
  std::vector<Term> terms;
  append_terms(config, terms);
  return terms;
}

bool has(const std::vector<Term>& terms, std::string_view text) {
  return std::binary_search(terms.begin(), terms.end(), xxh64(text));
}

std::vector<Term> required(std::string_view text) { return required_terms(*parse_selector(text)); }

std::vector<Term> hashes(std::initializer_list<std::string_view> texts) {
  std::vector<Term> terms;
  for (const std::string_view text : texts) terms.push_back(xxh64(text));
  std::sort(terms.begin(), terms.end());
  return terms;
}

TEST(Terms, OfAConfiguration) {
  const auto terms = terms_of(matmul_config());
  EXPECT_TRUE(std::is_sorted(terms.begin(), terms.end()));
  EXPECT_EQ(std::adjacent_find(terms.begin(), terms.end()), terms.end());
  for (const std::string_view text : {"op:ttnn.matmul",
                                      "op:matmul",
                                      "dtype:BFLOAT8_B",
                                      "dtype:BFLOAT16",
                                      "layout:TILE",
                                      "storage:DEVICE",
                                      "rank:4",
                                      "rank:2",
                                      "shape:[1,1,12544,32]",
                                      "shape:[32,64]",
                                      "memory:HEIGHT_SHARDED",
                                      "memory:INTERLEAVED",
                                      "buffer:L1",
                                      "buffer:DRAM",
                                      "sharded",
                                      "shard:[224,32]",
                                      "shard:[448,64]",
                                      "arg:dim",
                                      "arg:dim=3",
                                      "arg:arg2=7",
                                      "arg:dtype=bfloat16",
                                      "arg:dtype=datatype.bfloat16",
                                      "arg:eps=1e-05",
                                      "arg:mode=fast.path",
                                      "arg:output_shape=[1,64]",
                                      "arg:transpose_a=none",
                                      "arg:transpose_b",
                                      "arg:transpose_b=false",
                                      "arg:memory_config",
                                      "arg:input_tensor_a",
                                      "arg:program_config",
                                      "arg:callback=lambda"}) {
    EXPECT_TRUE(has(terms, text)) << text;
  }
  for (const std::string_view text : {"op:ttnn", "rank:3", "arg:transpose_a", "dtype:FLOAT32", "storage:absent"}) {
    EXPECT_FALSE(has(terms, text)) << text;
  }
}

TEST(Terms, AreAppendedBehindWhatIsThere) {
  std::vector<Term> out{9, 5};
  append_terms(matmul_config(), out);
  EXPECT_EQ(out[0], 9u);
  EXPECT_EQ(out[1], 5u);
  EXPECT_EQ(std::vector<Term>(out.begin() + 2, out.end()), terms_of(matmul_config()));
}

TEST(Terms, OfUncommonTensors) {
  OpConfig config;
  config.op = "a.b.c";
  config.args.push_back(
      {"a", Value::tensor(tensor(Shape(40, -9223372036854775807 - 1), "FLOAT8", "TILE", interleaved_memory("L1")))});
  const auto terms = terms_of(config);
  EXPECT_TRUE(has(terms, "rank:40"));
  EXPECT_TRUE(has(terms, "dtype:FLOAT8"));
  EXPECT_TRUE(has(terms, "shape:" + opwright::to_text(Shape(40, -9223372036854775807 - 1))));
  EXPECT_TRUE(has(terms, "op:b.c"));
}

TEST(Terms, ASelectorRequiresWhatItsAndsSay) {
  EXPECT_EQ(required("op=ttnn::Add"), hashes({"op:ttnn.add"}));
  EXPECT_EQ(required("op=add and dtype=bfloat16 and not sharded and rank>=3"), hashes({"op:add", "dtype:BFLOAT16"}));
  EXPECT_EQ(required("in1.dtype=UINT8 and sharded"), hashes({"dtype:UINT8", "sharded"}));
  EXPECT_EQ(required("shape=[1,2]"), hashes({"shape:[1,2]"}));
  EXPECT_EQ(required("shape=[1,*]"), hashes({"rank:2"}));
  EXPECT_EQ(required("shape in ([1,*], [*,3])"), hashes({"rank:2"}));
  EXPECT_EQ(required("shard=[8,8] and layout=tile and storage=host and memory=interleaved and buffer=l1 and rank=3"),
            hashes({"shard:[8,8]", "layout:TILE", "storage:HOST", "memory:INTERLEAVED", "buffer:L1", "rank:3"}));
  EXPECT_EQ(required("arg.dim=3 and arg.x~y"), hashes({"arg:dim=3", "arg:x"}));
  EXPECT_EQ(required("arg.dim=none"), hashes({"arg:dim=none"}));
  EXPECT_EQ(required("arg.dim in (1,2)"), hashes({}));
  EXPECT_EQ(required("arg.a.b in (1,2)"), hashes({"arg:a"}));
  EXPECT_EQ(required("arg.cfg.Per_Core=4"), hashes({"arg:cfg", "arg:cfg.per_core=4"}));
  EXPECT_EQ(required("arg.cfg.0=4 and arg.cfg.a.b=4"), hashes({"arg:cfg"}));
  EXPECT_EQ(required("arg.a=[1,2]"), hashes({"arg:a=[1,2]"}));
  EXPECT_EQ(required("arg.a=[1,*]"), hashes({"arg:a"}));
  EXPECT_EQ(required("arg.a>2 and arg.b"), hashes({"arg:a", "arg:b"}));
  EXPECT_EQ(required("op=add and dtype=uint8 or op=add and rank=2"), hashes({"op:add"}));
  for (const std::string_view text :
       {"", "op!=add", "op~add", "op=add or op=mul", "not op=add", "shape=[...,1]", "shard=[1,*]", "dim[0]=1",
        "model=llama", "calls>1", "key=12", "convention=cpp", "tensors=2"}) {
    EXPECT_TRUE(required(text).empty()) << text;
  }
}

TEST(Terms, AlternativesAreTheWaysThroughOrAndIn) {
  const auto ways = [](std::string_view text) { return alternatives(*parse_selector(text), {}); };
  EXPECT_EQ(ways("op=add or op=mul").size(), 2u);
  EXPECT_EQ(ways("op in (add, mul, sub)").size(), 3u);
  EXPECT_EQ(ways("(op=add or op=mul) and dtype in (uint8, int32)").size(), 4u);
  ASSERT_EQ(ways("op=add and dim[0]>1").size(), 1u);
  EXPECT_EQ(ways("op=add and dim[0]>1").front().terms, required("op=add"));
  EXPECT_EQ(ways("op=add and dim[0]>1").front().facts, ways("dim[0]>1").front().facts);
  EXPECT_EQ(ways("op=add or dim[0]>1").size(), 2u);
  for (const std::string_view text : {"", "not op=add", "op=add or calls>1", "dim[0]!=1"})
    EXPECT_TRUE(ways(text).empty()) << text;
  EXPECT_EQ(required_key(*parse_selector("op=add and key=1aa2")), "1aa2");
  EXPECT_EQ(required_key(*parse_selector("op=add or key=1aa2")), "");
}

}  // namespace
}  // namespace opwright::select
