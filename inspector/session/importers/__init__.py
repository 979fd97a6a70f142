"""Read files of other programs into captures."""
