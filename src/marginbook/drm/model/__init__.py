"""The model: its matrices, the objective and its residual, the penalties, and the system as an operator."""
