"""What a kernel says of the input of an estimator."""

from __future__ import annotations

from typing import Any

from sklearn.utils import Tags

from . import kernel_name


def tag_input(tags: Tags, kernel: Any) -> str:
    """Note in `tags` whether rows may be sparse and are a Gram matrix; return the kernel's name.

    It is "" for a kernel that does not exist: ``fit`` says what is wrong with it.
    """
    try:
        name = kernel_name(kernel)
    except ValueError:
        name = ""
    tags.input_tags.sparse = name not in ("precomputed", "callable")
    tags.input_tags.pairwise = name == "precomputed"
    return name
