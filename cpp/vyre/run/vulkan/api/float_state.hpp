// Sets the default floating-point state for the duration of a call into a driver.
//
// A driver's worker threads inherit the control register of the thread that starts them, and a library built with -ffast-math may have set
// it to flush subnormals to zero.
#pragma once

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

namespace vyre::run::vulkan {

class PlainFloats {
 public:
  PlainFloats(const PlainFloats&) = delete;
  PlainFloats& operator=(const PlainFloats&) = delete;
#if defined(__SSE__)
  PlainFloats() : before_(_mm_getcsr()) { _mm_setcsr(kDefault); }
  ~PlainFloats() { _mm_setcsr(before_); }

 private:
  // MXCSR: all exceptions masked, round to nearest, subnormals kept.
  static constexpr unsigned kDefault = 0x1F80;
  unsigned before_;
#else
  PlainFloats() {}
  ~PlainFloats() {}
#endif
};

}  // namespace vyre::run::vulkan
