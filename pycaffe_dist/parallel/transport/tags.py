"""Tags of messages: all that there are, so that no two kinds of them are taken for one another."""

OBJECT, SIZES, VALUES, BOARD, STALE, STATISTICS, RING, NUMBERS = range(1, 9)
PARCELS = 16  # those of planned exchanges, from here on
