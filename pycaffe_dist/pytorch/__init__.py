"""Nets as plain PyTorch modules: readable code, and a state_dict beside it."""
