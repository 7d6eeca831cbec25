"""Large margin distribution machine (Zhang & Zhou): a support vector machine that looks at all margins."""
