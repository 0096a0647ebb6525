import os.path as osp
import numpy as np

class AttrDict(dict):
    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError, name
    __setattr__ = dict.__setitem__

__C = AttrDict()
cfg = __C
__C.TEST_SCALES = (600,)
__C.NMS = 0.3
__C.EPS = 1e-14

def cfg_from_list(cfg_list):
    from ast import literal_eval
    assert len(cfg_list) % 2 == 0
    for k, v in zip(cfg_list[0::2], cfg_list[1::2]):
        assert __C.has_key(k)
        try:
            value = literal_eval(v)
        except:
            value = v
        __C[k] = value
