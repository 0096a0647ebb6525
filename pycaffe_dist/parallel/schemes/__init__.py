"""How the gradient of a parameter becomes the joint one of all ranks: a file for each scheme.

``scheme.py`` says what a scheme is and finds all of them: every other module of this folder holds
one, with its exchange through host memory, its exchange between devices, and what both cost.
Schemes must not know the plan that chooses among them, nor the solver's loop.
"""
