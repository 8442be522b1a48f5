"""Files of directory trees, read in pieces of bounded size: what ``vyre hash`` and ``vyre scan`` do."""
