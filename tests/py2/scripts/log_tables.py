# A training log by regular expressions, into .csv files.
import csv, re, string, sys, os, datetime
import ConfigParser

def parse(path):
    regex_iteration = re.compile('Iteration (\d+)')
    regex_loss = re.compile('loss = ([\.\deE+-]+)')
    rows = []
    for line in open(path, 'rb'):
        m = regex_iteration.search(str(line))
        if m and regex_loss.search(str(line)):
            rows.append((int(m.group(1)), float(regex_loss.search(line.strip().decode('utf-8')).group(1))))
    return rows

rows = parse('caffe.log')
with open('caffe.log.train', 'wb') as csv_file:
    writer = csv.DictWriter(csv_file, fieldnames=['NumIters', 'loss'])
    writer.writeheader()
    writer.writerows([dict(zip(['NumIters', 'loss'], row)) for row in rows])
with open('caffe.log.train', 'rb') as f:
    table = list(csv.reader(f))
print table[0], len(table), table[-1]
try:
    open('nothing.log')
except IOError, (errno, strerror):
    print errno, strerror
print string.join(map(str, [r[0] for r in rows]), ','), string.upper('done')
config = ConfigParser.ConfigParser()
config.add_section('net')
config.set('net', 'iterations', '%d' % len(rows))
config.write(open('run.cfg', 'wb'))
print config.getint('net', 'iterations') / 2
