#include "select/selector.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include "select/test_subjects.h"

namespace opwright::select {
namespace {

std::string canonical(std::string_view text) {
  const auto selector = parse_selector(text);
  return selector ? to_text(*selector) : selector.error().message;
}

std::string error_of(std::string_view text) {
  const auto selector = parse_selector(text);
  if (selector) return "no error: " + to_text(*selector);
  EXPECT_EQ(selector.error().code, ErrorCode::kUsage);
  return selector.error().message;
}

TEST(Selector, NamesAreBroughtIntoTheirCanonicalSpelling) {
  EXPECT_EQ(canonical("op=ttnn::Add"), "op=ttnn.add");
  EXPECT_EQ(canonical("DTYPE = ttnn.bfloat8_b"), "dtype=BFLOAT8_B");
  EXPECT_EQ(canonical("dtype==DataType::BFLOAT16"), "dtype=BFLOAT16");
  EXPECT_EQ(canonical("layout=TILE_LAYOUT"), "layout=TILE");
  EXPECT_EQ(canonical("memory!=TensorMemoryLayout::height_sharded"), "memory!=HEIGHT_SHARDED");
  EXPECT_EQ(canonical("buffer=l1"), "buffer=L1");
  EXPECT_EQ(canonical("convention=C++"), "convention=cpp");
  EXPECT_EQ(canonical("key=1AA23D"), "key=1aa23d");
  EXPECT_EQ(canonical("volume>1e6"), "volume>1000000");
  EXPECT_EQ(canonical("In00.Dim [-1]>=1024"), "in0.dim[-1]>=1024");
  EXPECT_EQ(canonical("shape = [ 1, 1 ,32, * , ... ]"), "shape=[1,1,32,*,...]");
  EXPECT_EQ(canonical("shape=[]"), "shape=[]");
  EXPECT_EQ(canonical("arg.Transpose_B"), "arg.transpose_b");
  EXPECT_EQ(canonical("arg.0=1.50"), "arg.arg0=1.5");
  EXPECT_EQ(canonical("arg.\"0\".'a b'.c.1=NULL"), "arg.\"0\".\"a b\".c.1=none");
  EXPECT_EQ(canonical("model='Llama \"3\"'"), "model=\"llama \\\"3\\\"\"");
  EXPECT_EQ(canonical("model~meta-llama/Llama-3.2-1B"), "model~meta-llama/llama-3.2-1b");
}

TEST(Selector, ListsAndNegationsHaveOneForm) {
  EXPECT_EQ(canonical("dtype in (BFLOAT8_B,bfloat4_b)"), "dtype in (BFLOAT8_B, BFLOAT4_B)");
  EXPECT_EQ(canonical("dtype in (BFLOAT8_B)"), "dtype=BFLOAT8_B");
  EXPECT_EQ(canonical("rank NOT IN (3, 4)"), "not rank in (3, 4)");
  EXPECT_EQ(canonical("not not sharded"), "not not sharded");
  EXPECT_EQ(canonical("shape in ([1,*],[2])"), "shape in ([1,*], [2])");
}

TEST(Selector, NotBindsBeforeAndBeforeOr) {
  EXPECT_EQ(canonical("sharded or rank=4 and not op=add"), canonical("sharded or (rank=4 and (not (op=add)))"));
  EXPECT_EQ(canonical("(sharded or rank=4) and not (op=add or op=mul)"),
            "(sharded or rank=4) and not (op=add or op=mul)");
  EXPECT_EQ(canonical("((rank=1 and rank=2) and (rank=3 and rank=4))"), "rank=1 and rank=2 and rank=3 and rank=4");
  EXPECT_EQ(canonical("not sharded and rank=4"), "not sharded and rank=4");
}

TEST(Selector, AnEmptyTextIsEverything) {
  EXPECT_EQ(parse_selector("")->kind, Selector::Kind::kEverything);
  EXPECT_EQ(*parse_selector(" \n\t"), Selector{});
  EXPECT_EQ(to_text(Selector{}), "");
}

TEST(Selector, AKeywordMayBeAValueOrAnArgument) {
  EXPECT_EQ(canonical("op=and and arg.in=or and arg.not"), "op=and and arg.in=or and arg.not");
}

TEST(Selector, EveryFieldHasARowWithAnExampleThatParses) {
  for (const FieldInfo& field : fields()) {
    const auto selector = parse_selector(field.example);
    ASSERT_TRUE(selector) << selector.error().message;
    EXPECT_EQ(selector->predicate.field, field.field) << field.example;
    EXPECT_EQ(&info_of(field.field), &field);
    EXPECT_FALSE(field.summary.empty());
  }
}

TEST(Selector, ErrorsNameTheColumnAndTheWayOut) {
  EXPECT_EQ(error_of("op=add and dtyp=BFLOAT16"), "selector, column 12: unknown field 'dtyp'; did you mean 'dtype'?");
  EXPECT_EQ(error_of("memory_layout=L1"),
            "selector, column 1: unknown field 'memory_layout'; did you mean 'memory' or 'layout'?");
  EXPECT_EQ(error_of("wombat=1"),
            "selector, column 1: unknown field 'wombat'; fields are op, dtype, layout, storage, shape, rank, dim, "
            "volume, device, strides, memory, "
            "buffer, sharded, shard, orientation, arg, tensors, convention, key, model, machine, calls, raised, error");
  EXPECT_EQ(error_of("in0.op=add"), "selector, column 5: 'op' is no field of a tensor; write it without 'in0.'");
  EXPECT_EQ(error_of("in0.dtyp=add"), "selector, column 5: unknown field 'dtyp'; did you mean 'dtype'?");
  EXPECT_EQ(error_of("in0"), "selector, column 4: 'in0' wants a field of that tensor, such as in0.dtype=BFLOAT16");
  EXPECT_EQ(error_of("in99999999999.rank=1"), "selector, column 1: 'in99999999999' is no number of a tensor");
  EXPECT_EQ(error_of("dtype=BFLOAT8B"), "selector, column 7: unknown dtype 'BFLOAT8B'; did you mean 'BFLOAT8_B'?");
  EXPECT_EQ(error_of("dtype in (BFLOAT16, foo)"),
            "selector, column 21: unknown dtype 'foo'; known are BFLOAT16, FLOAT32, BFLOAT8_B, BFLOAT4_B, INT32, "
            "UINT32, UINT16, UINT8, FLOAT16, FLOAT64, FLOAT8_E4M3FN, FLOAT8_E5M2, INT8, INT16, INT64, UINT64, BOOL, "
            "COMPLEX64, COMPLEX128");
  EXPECT_EQ(error_of("layout=TILED"), "selector, column 8: unknown layout 'TILED'; did you mean 'TILE'?");
  EXPECT_EQ(error_of("memory=L1"),
            "selector, column 8: unknown memory layout 'L1', but it is a buffer type: write buffer=L1");
  EXPECT_EQ(
      error_of("layout=height_sharded"),
      "selector, column 8: unknown layout 'height_sharded', but it is a memory layout: write memory=HEIGHT_SHARDED");
  EXPECT_EQ(error_of("convention=java"), "selector, column 12: unknown convention 'java'; known are python, cpp");
  EXPECT_EQ(error_of("dtype=\"\""),
            "selector, column 7: unknown dtype ''; known are BFLOAT16, FLOAT32, BFLOAT8_B, BFLOAT4_B, INT32, UINT32, "
            "UINT16, UINT8, FLOAT16, FLOAT64, FLOAT8_E4M3FN, FLOAT8_E5M2, INT8, INT16, INT64, UINT64, BOOL, COMPLEX64, "
            "COMPLEX128");
}

TEST(Selector, ErrorsAboutRelationsAndValues) {
  EXPECT_EQ(error_of("dtype<BFLOAT16"),
            "selector, column 6: 'dtype' cannot be compared with '<'; it takes = != ~ in, such as dtype=BFLOAT8_B");
  EXPECT_EQ(error_of("rank~4"),
            "selector, column 5: 'rank' cannot be compared with '~'; it takes = != < <= > >= in, such as rank>=3");
  EXPECT_EQ(error_of("dtype"),
            "selector, column 6: 'dtype' wants one of = != ~ in, such as dtype=BFLOAT8_B; the text ends here");
  EXPECT_EQ(error_of("op add"), "selector, column 4: 'op' wants one of = != ~ in, such as op=ttnn.add; found 'add'");
  EXPECT_EQ(error_of("sharded=true"),
            "selector, column 8: 'sharded' is not compared with anything; write 'sharded' or 'not sharded'");
  EXPECT_EQ(error_of("rank=four"), "selector, column 6: 'rank' wants a whole number of at most 64 bits, not 'four'");
  EXPECT_EQ(error_of("rank=1.5"), "selector, column 6: 'rank' wants a whole number of at most 64 bits, not '1.5'");
  EXPECT_EQ(error_of("volume>1e30"),
            "selector, column 8: 'volume' wants a whole number of at most 64 bits, not '1e30'");
  EXPECT_EQ(error_of("rank=[4]"), "selector, column 6: 'rank' is not compared with a shape here");
  EXPECT_EQ(error_of("arg.x~[4]"), "selector, column 7: 'arg' is not compared with a shape here");
  EXPECT_EQ(error_of("arg.eps<small"), "selector, column 9: '<' wants a number, not 'small'");
  EXPECT_EQ(error_of("key=xyz"),
            "selector, column 5: 'key' wants the first hex digits of a key (1 to 64 of them), not 'xyz'");
  EXPECT_EQ(error_of("key=" + std::string(65, 'a')).substr(0, 30), "selector, column 5: 'key' want");
  EXPECT_EQ(error_of("shape=32x32"),
            "selector, column 7: 'shape' wants a shape in brackets, such as [1,1,32,*], not '32x32'");
  EXPECT_EQ(error_of("op=\"\""), "selector, column 4: the name of an operator is not empty");
  EXPECT_EQ(error_of("op~''"),
            "selector, column 4: '~' wants a text that is not empty: every text contains the empty one");
  EXPECT_EQ(error_of("op="), "selector, column 4: expected a value behind '='; the text ends here");
  EXPECT_EQ(
      error_of("op=*"),
      "selector, column 4: expected a value behind '='; found '*' (a text with such a character is written in quotes)");
  EXPECT_EQ(error_of("dtype in BFLOAT16"), "selector, column 10: 'in' wants a list, such as (a, b); found 'BFLOAT16'");
  EXPECT_EQ(error_of("dtype in ()"),
            "selector, column 11: expected a value behind '('; found ')' (a text with such a character is written in "
            "quotes)");
  EXPECT_EQ(error_of("rank in (1,"), "selector, column 12: expected a value behind ','; the text ends here");
  EXPECT_EQ(error_of("rank in (1"), "selector, column 9: '(' is never closed");
  EXPECT_EQ(error_of("rank in (1 2)"), "selector, column 12: expected ',' or ')', found '2'");
}

TEST(Selector, ErrorsAboutTheText) {
  EXPECT_EQ(error_of("model=\"llama"), "selector, column 7: the quote \" is never closed");
  EXPECT_EQ(error_of("shape=[1,2"), "selector, column 7: '[' is never closed");
  EXPECT_EQ(error_of("shape=[1,"), "selector, column 7: '[' is never closed");
  EXPECT_EQ(
      error_of("shape=[1,x]"),
      "selector, column 10: a shape holds whole numbers, '*' and '...'; found 'x' (other lists are written in quotes)");
  EXPECT_EQ(error_of("shape=[1,99999999999999999999]"),
            "selector, column 10: a shape holds whole numbers, '*' and '...'; found '99999999999999999999' (other "
            "lists are written in quotes)");
  EXPECT_EQ(error_of("shape=[1 2]"), "selector, column 10: expected ',' or ']', found '2'");
  EXPECT_EQ(error_of("(op=add"), "selector, column 1: '(' is never closed");
  EXPECT_EQ(error_of("(op=add op=sub)"), "selector, column 9: expected 'and', 'or' or ')', found 'op'");
  EXPECT_EQ(error_of("op=add)"), "selector, column 7: ')' closes nothing");
  EXPECT_EQ(error_of("op=add op=sub"), "selector, column 8: expected 'and', 'or' or the end, found 'op'");
  EXPECT_EQ(error_of("op=add and"), "selector, column 11: expected a field, such as op=ttnn.add; the text ends here");
  EXPECT_EQ(error_of("and op=add"), "selector, column 1: expected a field, such as op=ttnn.add; found 'and'");
  EXPECT_EQ(error_of("()"), "selector, column 2: expected a field, such as op=ttnn.add; found ')'");
  EXPECT_EQ(error_of("4=4"), "selector, column 1: expected a field, such as op=ttnn.add; found '4'");
  EXPECT_EQ(error_of("model=\"ä\" ü"),
            "selector, column 11: expected 'and', 'or' or the end, found 'ü'");  // columns are characters
  EXPECT_EQ(error_of("dim=4"), "selector, column 4: 'dim' wants the number of a dimension, such as dim[0] or dim[-1]");
  EXPECT_EQ(error_of("dim[x]=4"),
            "selector, column 5: 'dim' wants the number of a dimension, such as dim[0] or dim[-1]");
  EXPECT_EQ(error_of("dim[0=4"), "selector, column 6: expected ']' behind the number of a dimension; found '='");
  EXPECT_EQ(error_of("shape[0]=4"), "selector, column 6: only 'dim' has an index, such as dim[-1]>1024");
  EXPECT_EQ(error_of("arg=4"), "selector, column 4: 'arg' wants the name of an argument, such as arg.dim=3");
  EXPECT_EQ(error_of("arg.=4"), "selector, column 5: expected the name of an argument; found '='");
  EXPECT_EQ(error_of("arg.x 4"), "selector, column 7: expected 'and', 'or' or the end, found '4'");
  EXPECT_EQ(
      error_of("rank=" + std::string(1000, 'x')),
      "selector, column 6: 'rank' wants a whole number of at most 64 bits, not '" + std::string(40, 'x') + "...'");
}

TEST(Selector, DepthIsLimitedAndThePrintedFormKeepsWithinTheLimit) {
  std::string nots;
  for (int i = 0; i < 100; ++i) nots += "not ";
  EXPECT_EQ(canonical(nots + "sharded"), nots + "sharded");
  EXPECT_EQ(error_of("not " + nots + "sharded"), "selector, column 401: nested deeper than 100 levels");
  EXPECT_EQ(error_of(nots + "rank not in (1,2)"), "selector, column 401: nested deeper than 100 levels");
  EXPECT_EQ(error_of(std::string(100000, '(')), "selector, column 101: nested deeper than 100 levels");
  EXPECT_EQ(canonical(std::string(100, '(') + "sharded" + std::string(100, ')')), "sharded");
}

TEST(ShapePattern, StarIsOneDimensionAndDotsAreAny) {
  const auto holds = [](std::string_view pattern, Shape shape) {
    const auto selector = parse_selector("shape=" + std::string(pattern));
    return matches(std::get<ShapePattern>(selector->predicate.operands.at(0)), shape);
  };
  EXPECT_TRUE(holds("[1,1,32,*]", {1, 1, 32, 7}));
  EXPECT_FALSE(holds("[1,1,32,*]", {1, 1, 32}));
  EXPECT_FALSE(holds("[1,1,32,*]", {1, 1, 32, 7, 7}));
  EXPECT_TRUE(holds("[]", {}));
  EXPECT_FALSE(holds("[]", {1}));
  EXPECT_TRUE(holds("[...]", {}));
  EXPECT_TRUE(holds("[...,32]", {32}));
  EXPECT_TRUE(holds("[...,32]", {1, 32, 32}));
  EXPECT_FALSE(holds("[...,32]", {32, 1}));
  EXPECT_TRUE(holds("[1,...,32,*]", {1, 32, 32, 5}));
  EXPECT_TRUE(holds("[...,2,...,3,...]", {2, 1, 2, 9, 3, 8}));
  EXPECT_FALSE(holds("[...,2,...,3,...]", {3, 2}));
}

// The law: what we print is read back as the same selector.
TEST(Selector, PrintedTextIsReadBackAsTheSameSelector) {
  RandomSelectors random(1);
  for (int i = 0; i < 20000; ++i) {
    const std::string text = random.text();
    const auto selector = parse_selector(text);
    ASSERT_TRUE(selector) << text << "\n" << selector.error().message;
    const std::string printed = to_text(*selector);
    const auto again = parse_selector(printed);
    ASSERT_TRUE(again) << text << "\n" << printed << "\n" << again.error().message;
    ASSERT_EQ(*again, *selector) << text << "\n" << printed;
    ASSERT_EQ(to_text(*again), printed);
  }
}

// Texts nobody would type: no crash, and what is accepted keeps the law.
TEST(Selector, BrokenTextsGiveErrorsOrKeepTheLaw) {
  RandomSelectors texts(2);
  RandomConfigs random(3);
  static constexpr std::string_view kNoise = "()[]\"'\\.,:*~=!<> ainot019-+\xc3\xa4";
  std::size_t accepted = 0, refused = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string text = texts.text();
    for (std::size_t n = 1 + random.below(3); n > 0 && !text.empty(); --n) {
      const std::size_t at = random.below(text.size());
      if (random.chance(50))
        text[at] = random.pick(kNoise);
      else if (random.chance(50))
        text.erase(at, 1 + random.below(4));
      else
        text.insert(at, 1, random.pick(kNoise));
    }
    const auto selector = parse_selector(text);
    ++(selector ? accepted : refused);
    if (!selector) {
      ASSERT_TRUE(selector.error().message.starts_with("selector, column ")) << text;
      continue;
    }
    const auto again = parse_selector(to_text(*selector));
    ASSERT_TRUE(again) << text << "\n" << to_text(*selector) << "\n" << again.error().message;
    ASSERT_EQ(*again, *selector) << text;
  }
  EXPECT_GT(accepted, 1000u);
  EXPECT_GT(refused, 1000u);
}

#ifdef OPWRIGHT_SOURCE_DIR
// The tables of docs/formats/selector.md say what the program does.
TEST(Selector, TheDocumentationIsTrue) {
  std::ifstream file(OPWRIGHT_SOURCE_DIR "/docs/formats/selector.md");
  ASSERT_TRUE(file);
  const auto quoted_in = [](const std::string& cell) {
    std::vector<std::string> texts;
    std::size_t from = 0;
    for (std::size_t open = cell.find('`'); open != std::string::npos; open = cell.find('`', from)) {
      const std::size_t close = cell.find('`', open + 1);
      texts.push_back(cell.substr(open + 1, close - open - 1));
      from = close + 1;
    }
    return texts;
  };
  std::size_t rows = 0, examples = 0, canonicals = 0;
  std::string section;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("## ")) section = line.substr(3);
    if (!line.starts_with("| `")) continue;
    std::vector<std::string> cells;
    for (std::size_t from = 1; from < line.size();) {
      const std::size_t end = std::min(line.find(" |", from), line.size());
      cells.push_back(line.substr(from, end - from));
      from = end + 2;
    }
    if (section == "Fields") {
      ASSERT_LT(rows, fields().size());
      EXPECT_TRUE(quoted_in(cells.at(0)).at(0).starts_with(fields()[rows++].name)) << line;
      for (const std::string& example : quoted_in(cells.at(2))) {
        ++examples;
        EXPECT_TRUE(parse_selector(example)) << example;
      }
    } else if (section == "Arguments") {
      EXPECT_TRUE(parse_selector(quoted_in(cells.at(0)).at(0))) << line;
    } else if (section == "Canonical form") {
      ++canonicals;
      EXPECT_EQ(canonical(quoted_in(cells.at(0)).at(0)), quoted_in(cells.at(1)).at(0));
    }
  }
  EXPECT_EQ(rows, fields().size());
  EXPECT_GE(examples, rows);
  EXPECT_GE(canonicals, 4u);
}
#endif

TEST(Selector, OnlyModelMachineAndCallsNeedProvenance) {
  for (const std::string_view text :
       {"model=llama", "op=add and (rank=4 or not machine~n300)", "calls>100", "raised=0", "sharded and error~fatal"}) {
    EXPECT_TRUE(needs_provenance(*parse_selector(text))) << text;
  }
  for (const std::string_view text : {"", "op=add and not (rank=4 or arg.model=llama)", "key=12"}) {
    EXPECT_FALSE(needs_provenance(*parse_selector(text))) << text;
  }
}

}  // namespace
}  // namespace opwright::select
