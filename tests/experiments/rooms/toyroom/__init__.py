"""A room like those of the papers, with measures that cost next to nothing."""
