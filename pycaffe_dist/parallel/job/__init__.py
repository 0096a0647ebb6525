"""A job as processes: starting mpirun and ranks, watching them, naming the one that failed."""
