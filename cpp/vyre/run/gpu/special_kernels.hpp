// What a call does when the kernels for its words of Uniform buffers cannot be had.
#pragma once

#include <exception>

#include "vyre/base/error.hpp"

namespace vyre::run {

// Gives `special()`, the kernels for these words, or `usual()`, those for any words, if the former cannot be compiled in time or at all.
// Sets `given_up` where trying again is no use. Throws what ends the call in either case.
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
