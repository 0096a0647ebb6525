"""What schemes are made of: parcels, factors, slots, and the two ways between ranks.

A parcel holds parameters whose gradients are exchanged together.  Its base class and helpers are
here, and so are the way through host memory (``way``) and the way between GPUs (``nccl``).  This
room must not know any single scheme, nor how a plan chooses one.
"""
