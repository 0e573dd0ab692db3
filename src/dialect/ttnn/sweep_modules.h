// Names of the library's sweep modules, which vector files have instead of the operation's.
#pragma once

#include <string>
#include <string_view>

namespace opwright {

// Modules of the existing tooling are called after the last part of an operation's name, so a name has to be looked up:
//   model_traced.rotary_embedding_model_traced   <->   ttnn.experimental.rotary_embedding
// Of several operations with one last part, that of `ttnn` itself has the name, else that of `ttnn.transformer`; the
// others have their family behind it, as the existing module of the second line:
//   model_traced.split_query_key_value_and_split_heads_model_traced          <->   ttnn.transformer.split_query_…
//   model_traced.split_query_key_value_and_split_heads_experimental_model_traced  <->   ttnn.experimental.split_query_…
// Vectors in our own form (a case line) lie in modules of their own, so that nobody runs them as the existing ones:
//   case_lines.add
std::string module_of_traced(std::string_view op);      // "" when the name would not lead back to the operation
std::string module_of_case_lines(std::string_view op);  // for people: the case line names the operation
// The operation of a module's name; "" when it is not called `….NAME_model_traced`.
std::string op_of_module(std::string_view module);

}  // namespace opwright
