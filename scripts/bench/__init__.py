"""The parts of the benchmarks: what is measured, the sides compared, the reports."""
