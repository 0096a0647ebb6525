"""Tags of messages: those of planned exchanges begin at PARCELS."""

OBJECT, SIZES, VALUES, BOARD, STALE, STATISTICS, PARCELS = 1, 2, 3, 4, 5, 6, 16
