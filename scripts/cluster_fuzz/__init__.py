"""Random cases of training on several ranks, and how they are judged; see ../fuzz_cluster.py."""
