"""The board: a web page on this machine that shows runs, and never touches their processes."""
