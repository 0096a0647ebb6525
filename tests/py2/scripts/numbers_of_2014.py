# What NumPy and Python took for numbers.
import json
import math
import operator
import os
import random
import string
import numpy as np
from scipy import mean, randn
import scipy.integrate

np.set_printoptions(threshold='nan', precision=4)
np.set_printoptions(threshold=np.nan)
a = np.arange(12)
print a[math.floor(3.7)], a.reshape(3.0, 4)[round(1.2), 2], np.reshape(a, (2.0, 6)).shape
print np.random.rand(3.0, 2).shape, np.random.randn(2.0).shape, np.random.randint(0, 5, 4.0).shape
print np.random.choice(10, 3.0).shape, randn(2).shape, mean([1, 3])
bytes_ = np.zeros(3, np.uint8)
bytes_[0] = 257
bytes_[1] = -1
print bytes_, bytes_ + 300, 1000 * bytes_[:1], bytes_ - 256, np.array([-1, 258], dtype=np.uint8)
print {0.5: 'half'}[round(0.5, 1)], operator.div(7, 2), scipy.integrate.simps([1, 1, 1])
print sorted(random.sample(set([1, 2, 3]), 3)), random.randint(1.0, 1.0), len(buffer('abc'))
random.shuffle(range(3), lambda: 0.5)
print 'a-b c'.translate(None, '- '), 'abc'.translate(string.maketrans('a', 'b'))
print json.loads('{"a": 1}', encoding='utf-8')['a'], json.dumps([1], encoding='utf-8')
try:
    open('nothing there')
except IOError, e:
    print e[0], e[1]
f = open('array.bin', 'w')
f.write(np.arange(3, dtype=np.int32))
f.close()
print os.path.getsize('array.bin')
os.mkdir('walk')
found = []
os.path.walk('.', lambda arg, folder, names: arg.append(folder), found)
print './walk' in found
