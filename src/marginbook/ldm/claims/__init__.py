"""The claims about the paper, and the checks that decide them, by section, table and figure."""
