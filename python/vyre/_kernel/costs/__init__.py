"""What a kernel costs: memory it moves and operations it does, as functions of the call."""
