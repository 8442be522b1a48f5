#include "fuzz/targets.hpp"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  vyre::test::fuzz::procedure(std::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}
