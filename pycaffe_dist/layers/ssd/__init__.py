"""SSD: single shot detection of boxes (weiliu89/caffe, branch ssd)."""
