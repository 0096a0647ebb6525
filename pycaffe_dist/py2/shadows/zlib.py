"""``zlib``: of text as of bytes."""

import zlib as _real

from pycaffe_dist.py2.shadows import over, taking_bytes

OURS = ("adler32", "compress", "crc32", "decompress")

adler32 = taking_bytes(_real.adler32)
compress = taking_bytes(_real.compress)
crc32 = taking_bytes(_real.crc32)
decompress = taking_bytes(_real.decompress)

__getattr__ = over(_real, globals())
