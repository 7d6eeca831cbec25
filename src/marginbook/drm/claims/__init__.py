"""The claims about the paper, and the checks that decide them; ``beyond`` is ours."""
