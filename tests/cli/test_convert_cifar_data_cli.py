import pytest
import warm


def run(folder, *args):
    return warm.pcd("convert_cifar_data", *args, cwd=folder)


@pytest.mark.parametrize(
    ("db_type", "code", "message"),
    [
        ("lmdb", 1, "pcd convert_cifar_data: in/data_batch_1.bin: has 1 bytes, expected 30730000"),
        ("mdb", 2, "invalid choice: 'mdb'"),
    ],
)
def test_mistakes(tmp_path, db_type, code, message):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "data_batch_1.bin").write_bytes(b"0")
    done = run(tmp_path, "in", "out", db_type)
    assert done.returncode == code
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.glob("out/*"))
