"""What the calls of the library share: arrays of the host, messages, batches, streams."""
