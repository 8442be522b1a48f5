// The analysis walks over the code a fixed number of times. It finds blocks and regions, uses and forms, strides, cells, and live ranges,
// in this order, because each step needs the results of the steps before it.

#include "vyre/run/cpu/native/analysis/analyse.hpp"

#include <cstddef>

namespace vyre::run::cpu::native {
namespace {

void find_ternaries(const lower::Kernel& kernel, const std::vector<Form>& forms, Analysis& found) {
  std::vector<bool> words(kernel.code.size());  // by instruction: its value is a vector of words
  for (std::size_t position = 0; position < words.size(); ++position) {
    words[position] = found.uniformity.varying[position] && forms[position] == Form::Word;
  }
  found.ternaries = Ternaries(kernel, found.selected, words);
}

}  // namespace

std::optional<Analysis> analyse(const lower::Kernel& kernel, Vectors vectors, Refusal& refusal) {
  Analysis found;
  found.whole_workgroups = needs_whole_workgroups(kernel);
  found.uniformity = find_uniformity(kernel, found.whole_workgroups ? Batch::Workgroup : Batch::Row, Turns::Shared);
  found.selected = select_instructions(kernel);
  if (!find_nesting(kernel, found)) {
    refusal = {"its Ifs and Loops are nested more than 64 deep", "nest fewer of them"};
    return std::nullopt;
  }
  if (!find_regions(kernel, found)) {
    refusal = {"some invocations of a workgroup may not reach its Barriers together with the others",
               "put Barriers only under conditions that are uniform in the workgroup, and divergent Returns behind the last one"};
    return std::nullopt;
  }
  const std::vector<Form> forms = find_forms(kernel, found);
  if (vectors == Vectors::Avx512) find_ternaries(kernel, forms, found);
  find_strides(kernel, found);
  make_cells(kernel, forms, found);
  find_live_ranges(kernel, forms, found);
  find_streamed_buffers(kernel, found);
  found.chains_gathers = chains_gathers(kernel, found);
  return found;
}

}  // namespace vyre::run::cpu::native
