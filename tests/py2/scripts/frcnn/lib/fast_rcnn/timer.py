import time

class Timer(object):
    def __init__(self):
        self.total_time = 0.
        self.calls = 0
        self.average_time = 0.

    def tic(self):
        self.start_time = time.clock()

    def toc(self, average=True):
        self.total_time += time.clock() - self.start_time
        self.calls += 1
        self.average_time = self.total_time / self.calls
        return self.average_time
