"""Update rules, learning-rate policies, snapshots."""
