"""``base64``: of text as of bytes."""

import base64 as _real

from pycaffe_dist.py2.shadows import over, taking_bytes

OURS = (
    "b64decode",
    "b64encode",
    "decodebytes",
    "encodebytes",
    "urlsafe_b64decode",
    "urlsafe_b64encode",
    "decodestring",
    "encodestring",
)

b64decode = taking_bytes(_real.b64decode)
b64encode = taking_bytes(_real.b64encode)
decodebytes = taking_bytes(_real.decodebytes)
encodebytes = taking_bytes(_real.encodebytes)
urlsafe_b64decode = taking_bytes(_real.urlsafe_b64decode)
urlsafe_b64encode = taking_bytes(_real.urlsafe_b64encode)
decodestring, encodestring = decodebytes, encodebytes

__getattr__ = over(_real, globals())
