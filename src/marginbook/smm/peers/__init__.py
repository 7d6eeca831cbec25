"""The methods that the draft is compared with: on vectors, with other losses, and with the nuclear norm."""
