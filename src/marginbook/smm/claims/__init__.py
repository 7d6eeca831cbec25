"""The claims about the draft, and the checks that decide them; what begins with ``beyond`` is ours."""
