"""How one entry of the tables and curves is measured."""
