"""The claims about the paper, and the checks that decide them; what begins with ``beyond`` is ours."""
