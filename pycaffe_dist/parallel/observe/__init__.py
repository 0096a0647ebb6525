"""What was exchanged and when: traces of a step and statistics of a run."""
