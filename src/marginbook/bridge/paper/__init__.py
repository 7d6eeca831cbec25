"""What the room is called; there is no paper."""
