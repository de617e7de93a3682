"""What texts hold: the words of a search, formulas that a spreadsheet runs, characters that nobody sees."""
