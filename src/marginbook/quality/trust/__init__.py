"""How far the numbers can be trusted: stability, certificates beside 100 digits, bad conditioning."""
