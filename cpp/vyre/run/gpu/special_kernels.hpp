// Chooses the kernels of a call when the kernels that are specialised for its words of Uniform buffers are not available.
#pragma once

#include <exception>

#include "vyre/base/error.hpp"

namespace vyre::run {

// Returns `special()`, the kernels for these words. If they cannot be compiled, or not in time, returns `usual()`, the kernels for any
// words. Sets `given_up` if later calls should not try `special()` again. Throws if the device was lost, if the call was interrupted, or if
// `usual()` throws.
template <class Special, class Usual>
auto special_or_usual(bool& given_up, const Special& special, const Usual& usual) {
  if (!given_up) {
    try {
      return special();
    } catch (const DeviceLostError&) {
      throw;
    } catch (const Interrupted&) {
      throw;
    } catch (const DispatchTimeoutError&) {
      // The driver goes on compiling; a later call uses the result.
    } catch (const std::exception&) {
      // The kernels for any words give the same result, so a failure to specialise is not reported.
      given_up = true;
    }
  }
  return usual();
}

}  // namespace vyre::run
