import numpy as np

from pycaffe_dist.data.contact_sheet import GAP, SIDE, write_sheet
from pycaffe_dist.data.image import read_image


def test_images_side_by_side(tmp_path):
    blue = np.zeros((3, 2 * SIDE, SIDE), np.uint8)
    blue[0] = 255
    floats = np.linspace(-1, 1, 2 * 48 * 48, dtype=np.float32).reshape(2, 48, 48)
    gray = np.full((1, 10, 10), 77, np.uint8)
    images = [(blue, "0"), (gray, "1"), (floats, "2")] * 4
    write_sheet(str(tmp_path / "sheet.png"), images)
    sheet = read_image(str(tmp_path / "sheet.png"))
    middle = GAP + SIDE // 2
    step = SIDE + GAP
    assert sheet.shape[1] == 10 * step + GAP
    assert sheet[middle, middle].tolist() == [255, 0, 0]
    assert sheet[middle, GAP + 1].tolist() == [32, 32, 32]  # half as wide as high
    assert sheet[middle, middle + step].tolist() == [77, 77, 77]
    row = sheet[middle, 2 * step + GAP : 2 * step + GAP + SIDE, 0]
    assert row[0] < row[47] < row[48] < row[-1]  # its two channels
    assert (sheet[GAP + SIDE : GAP + SIDE + 14, GAP : GAP + 10] > 200).any()  # the label
