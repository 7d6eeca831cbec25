"""How good our own code is: how far its numbers can be trusted, and how fast it is beside its peers."""
