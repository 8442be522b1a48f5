"""What every layer stands on: wrong calls, texts, files, source lines, and the log."""
