"""Each page shows what the run's files say; nothing in them becomes more than text."""

import json
import re
from pathlib import Path

import pytest
from made_runs import EVIL, line, metrics_of, write_run, write_trace
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

DOCS = Path(__file__).parents[2] / "docs" / "board"
CURVES = "return window.board.byTitle.get(arguments[0]).plot.data.map(row => Array.from(row))"
SPAN = "const s = window.board.byTitle.get('loss').plot.scales.x; return [s.min, s.max]"


def curve(page, title, label):
    """The x and y of one line of a chart."""
    labels = page.run(
        "return window.board.byTitle.get(arguments[0]).plot.series.map(s => s.label)", title
    )
    data = page.run(CURVES, title)
    row = data[labels.index(label)]
    pairs = [(x, y) for x, y in zip(data[0], row, strict=True) if y is not None]
    return [x for x, _ in pairs], [y for _, y in pairs]


def test_runs(page, project):
    page.read_all()
    page.open("runs")
    row = page.one('tr[data-run="tiny"]').text
    tests = [r for r in metrics_of(project / "runs" / "tiny") if r["kind"] == "test"]
    best = max(r["outputs"]["acc"] for r in tests)
    assert "done" in row and "30 of 30" in row
    assert f"{best:.5g}" in row and "test acc at" in row
    assert "base_lr 0.001" in page.one('tr[data-run="slow"]').text
    page.one('input[aria-label="choose slow"]').click()
    page.one('input[aria-label="choose fast"]').click()
    page.one("button.main").click()
    page.wait(lambda: len(page.all("[data-chart]")) == 2)
    assert "run=slow&run=fast" in page.browser.current_url
    assert not page.errors()


def test_curves(page, project):
    page.read_all()
    page.open("curves", "tiny")
    rows = metrics_of(project / "runs" / "tiny")
    train = [r for r in rows if r["kind"] == "train"]
    xs, ys = curve(page, "loss", "train loss")
    assert xs == [r["iteration"] for r in train]
    assert ys == pytest.approx([r["loss"] for r in train], rel=1e-6)
    tests = [r for r in rows if r["kind"] == "test"]
    xs, ys = curve(page, "acc", "test acc")
    assert xs == [r["iteration"] for r in tests]
    assert ys == pytest.approx([r["outputs"]["acc"] for r in tests], rel=1e-6)
    _, rates = curve(page, "loss", "lr")
    assert rates[0] == 0.05
    assert page.run("return window.board.byTitle.get('loss').plot.axes.length") == 3  # lr's own
    page.all("label")[1].click()  # logarithmic
    page.wait(lambda: page.run("return board.byTitle.get('loss').plot.scales.y.distr") == 3)
    page.all("label")[1].click()
    assert not page.errors()


def test_the_legend_has_a_row_for_a_line_and_its_smoothed_one(serve, gallery):
    page = serve([gallery / "runs"])
    page.read_all()
    page.open("curves", "lenet")
    rows = [r for r in page.all('[data-chart="loss"] .u-series') if r.is_displayed()]
    names = [row.find_element("css selector", "th").text for row in rows]
    assert names == ["iteration", "train loss, smoothed", "lr"]
    over = page.one('[data-chart="loss"] .u-over')
    ActionChains(page.browser).move_to_element(over).perform()
    told = [row.find_element("css selector", ".u-value") for row in rows]
    page.wait(lambda: re.fullmatch(r"[\d.]+ \(raw [\d.]+\)", told[1].text))
    assert float(told[2].text)  # each line tells its nearest value
    shown = "return board.byTitle.get('loss').plot.series.slice(1).map(s => s.show)"
    rows[1].find_element("css selector", "th").click()
    assert page.run(shown) == [False, False, True]
    rows[1].find_element("css selector", "th").click()
    assert page.run(shown) == [True, True, True]
    assert not page.errors()


def test_a_wide_net_begins_where_its_first_layer_is(serve, tmp_path, project):
    """On a phone, too: with many branches the first layer is far from the left edge."""
    names = [f"b{i}" for i in range(12)]
    branches = "".join(
        f'layer {{ name: "{n}" type: "InnerProduct" bottom: "x" top: "{n}" '
        "inner_product_param { num_output: 2 } }"
        for n in names
    )
    run = write_run(tmp_path / "wide")
    top = 'layer { name: "in" type: "Input" top: "x" input_param { shape { dim: 1 dim: 3 } } }'
    (run / "net.prototxt").write_text(top + branches)
    page = serve([tmp_path])
    page.look(width=390)
    try:
        page.open("net", "wide")
        layer, box = page.one('[data-layer="in"]'), page.one(".netbox")
        assert page.run("return arguments[0].scrollWidth > 3 * arguments[0].clientWidth", box)
        inside = "const [a, b] = [...arguments].map(e => e.getBoundingClientRect());"
        assert page.run(f"{inside} return a.left >= b.left && a.right <= b.right", layer, box)
    finally:
        page.plain()


def test_zoom_and_back(page):
    page.read_all()
    page.open("curves", "slow", "fast")
    over = page.one('[data-chart="loss"] .u-over')
    whole = page.run(SPAN)
    width = over.size["width"]
    actions = ActionChains(page.browser).move_to_element_with_offset(over, -width // 4, 0)
    actions.click_and_hold().move_by_offset(width // 2, 0).release().perform()
    begin, end = page.wait(lambda: (now := page.run(SPAN)) != whole and now)
    assert whole[0] < begin < end < whole[1]
    assert end - begin == pytest.approx((whole[1] - whole[0]) / 2, rel=0.05)
    page.wait(lambda: page.run(CURVES, "loss")[0][0] >= begin - 2)  # what is shown was fetched
    next(b for b in page.all("button") if b.text == "Whole run").click()
    page.wait(lambda: page.run(SPAN) == whole)
    page.run("document.querySelector('[data-chart=\"loss\"] .u-over').dispatchEvent("
             "new WheelEvent('wheel', {deltaY: -1, cancelable: true}))")  # fmt: skip
    page.wait(lambda: page.run(SPAN)[1] - page.run(SPAN)[0] < whole[1] - whole[0])


def test_a_new_line_is_drawn_as_it_is_written(page, project):
    """How long it takes is measured by scripts/bench_board.py."""
    page.read_all()
    page.open("curves", "slow")
    page.wait(lambda: page.one("#live").text == "live")
    with open(project / "runs" / "slow" / "metrics.jsonl", "a") as file:
        file.write(line(123, 0.25))
    page.wait(lambda: page.run(CURVES, "loss")[0][-1] == 123)
    assert curve(page, "loss", "train loss")[1][-1] == 0.25
    page.open("runs")
    assert "123" in page.one('tr[data-run="slow"]').text


def test_the_net(page, project):
    page.open("net", "tiny")
    assert "1,315 parameters" in page.text()
    assert "8x3x12x12" in [e.text for e in page.all(".edgelabel")]
    layer = page.one('[data-layer="conv"]')
    assert "112 params" in layer.text
    page.run("arguments[0].focus()", layer)
    layer.send_keys(Keys.ENTER)  # by keyboard
    text = page.one("pre[data-prototxt]").text
    assert "num_output: 4" in text
    told = json.loads((project / "runs" / "tiny" / "layers.json").read_text())["layers"]["conv"]
    for way in ("forward", "backward"):  # the trace has the time, layers.json what computed it
        row = next(r.text for r in page.all("aside tr") if r.text.startswith(way))
        assert " ms, " in row and row.endswith(told[f"{way}_by"])
    assert len(page.all(".histogram")) == 2 and page.one('img[alt="filters"]')
    assert not page.errors()


def test_activations_of_an_image(page, project):
    page.open("net", "tiny")
    page.one('[data-layer="relu"]').click()
    page.one("aside input[type=file]").send_keys(str(project / "left.png"))
    assert page.one('img[alt="activations of relu"]').get_attribute("src").startswith("data:")


def test_the_cluster(page):
    page.open("cluster")
    names = [o.text for o in page.all("option")]
    page.run("const s = document.querySelector('select'); s.value = arguments[0];"
             "s.dispatchEvent(new Event('change'))", "two ranks: trace.json")  # fmt: skip
    assert sorted(names) == ["tiny: trace.json", "two ranks: trace.json"]
    page.wait(lambda: len(page.all(".span.wait")) == 2)
    first = page.one('tr[data-rank="0"]').text
    assert "18 ms" in first and "50 %" in first and "waited for it" in first
    assert "waited for it" not in page.one('tr[data-rank="1"]').text


def test_a_simulated_step_that_lies_beside_the_runs(serve, tmp_path):
    write_trace(tmp_path / "simulated.json")
    page = serve([tmp_path])
    page.open("cluster")
    assert [o.text for o in page.all("option")] == ["simulated.json"]
    page.wait(lambda: len(page.all(".span.wait")) == 2)
    assert not page.errors()


def test_predictions(page, project):
    page.open("predictions", "tiny")
    script = """
      const [bytes, zone] = [arguments[0], document.querySelector('.drop')];
      const data = new DataTransfer();
      data.items.add(new File([new Uint8Array(bytes)], 'dropped.png', {type: 'image/png'}));
      zone.dispatchEvent(new DragEvent('drop', {dataTransfer: data, cancelable: true}));
    """
    page.run(script, list((project / "below.png").read_bytes()))
    first = page.one(".meter").text.split()
    assert first[0] == "below"
    page.one("button.main").click()
    accuracy = float(page.one("[data-accuracy]").get_attribute("data-accuracy"))
    tests = [r for r in metrics_of(project / "runs" / "tiny") if r["kind"] == "test"]
    assert accuracy == pytest.approx(max(r["outputs"]["acc"] for r in tests))
    cells = [int(cell.text or 0) for cell in page.all(".confusion td")]
    assert sum(cells) == 24 and len(cells) == 9
    assert not page.errors()


def test_data(page):
    page.open("data")
    assert page.one("[data-count]").get_attribute("data-count") == "24"
    assert "1 right" in page.text() and page.one("img[alt^='the first images']")


def test_starting_is_off_unless_asked_for(page):
    page.open("start")
    assert "This board only shows" in page.text() and not page.all("form")


def test_the_form_shows_the_command(serve, project, monkeypatch, tmp_path):
    monkeypatch.chdir(project)
    page = serve([tmp_path], [project / "runs", "."], control=True)
    assert "token" not in page.browser.current_url  # it is a cookie now
    page.open("start")
    page.run("document.querySelector('#settings').value = 'base_lr=0.5';"
             "document.querySelector('#settings').dispatchEvent(new Event('input'))")  # fmt: skip
    page.wait(lambda: "--set base_lr=0.5" in page.one("#command").text)
    page.run("document.querySelector('#name').value = '../x';"
             "document.querySelector('#name').dispatchEvent(new Event('input'))")  # fmt: skip
    assert "a run's name" in page.one(".error").text


def test_without_the_token_there_is_nothing(serve, project, tmp_path):
    page = serve([tmp_path], control=True)
    page.browser.delete_all_cookies()
    page.browser.get(f"http://127.0.0.1:{page.server.server_address[1]}/")
    assert "the token is missing" in page.browser.find_element("tag name", "body").text


@pytest.mark.parametrize("kind", ["runs", "curves", "net"])
def test_names_are_text_and_nothing_else(page, project, kind):
    name = next(n for n in page.server.board.runs.by_name if n.startswith("evil"))
    page.read_all()
    page.run(
        "location.hash = '#/' + arguments[0] + '?run=' + encodeURIComponent(arguments[1])",
        kind,
        name,
    )
    page.wait(lambda: EVIL[:10] in page.text())
    assert not page.all("main img[src='x']")
    assert not [e for e in page.errors() if "alert" in e]


@pytest.mark.parametrize(
    ("name", "kind", "dark", "width"),
    [
        ("runs", "runs", False, 1280),
        ("curves", "curves", False, 1280),
        ("curves-dark", "curves", True, 1280),
        ("net", "net", False, 1280),
        ("cluster", "cluster", False, 1280),
        ("predictions", "predictions", False, 1280),
        ("data", "data", True, 1280),
        ("phone", "runs", False, 390),
        ("phone-curves", "curves", True, 390),
    ],
)
def test_pictures_for_the_documentation(
    serve, gallery, monkeypatch, request, tmp_path, name, kind, dark, width
):
    """And on no page, at no width, anything is wider than the window."""
    monkeypatch.chdir(gallery)
    page = serve([gallery / "runs"], [gallery / "data"])
    page.read_all()
    page.look(dark, width)
    asked = request.config.getoption("--pictures")
    path = (DOCS if asked else tmp_path) / f"{name}.png"
    try:
        one = kind in ("net", "predictions")
        page.open(kind, *(["tiny"] if one else ["lenet", "lenet faster", "lenet two ranks"]))
        if kind == "net":
            page.one('[data-layer="conv"]').click()
            page.one("pre[data-prototxt]")
        if kind == "predictions":
            page.one("input[type=file]").send_keys(str(gallery / "right.png"))
            page.one(".meter")
            page.one("button.main").click()
            page.one("[data-accuracy]")
        assert page.run("return document.documentElement.scrollWidth") <= width
        page.browser.save_screenshot(str(path))
    finally:
        page.plain()
    assert path.stat().st_size > 5000
    assert json.dumps(page.errors()) == "[]"


def test_a_report_is_one_file(browser, gallery, tmp_path, call_pcd):
    path = tmp_path / "a report.html"
    call_pcd("report", gallery / "runs" / "lenet", gallery / "runs" / "tiny", "-o", path)
    browser.get("about:blank")
    browser.get_log("browser")
    browser.get(path.as_uri())
    charts = browser.find_elements("css selector", "[data-chart]")
    assert [c.get_attribute("data-chart") for c in charts] == ["loss", "acc"]
    assert len(browser.find_elements("css selector", ".chart canvas")) == 2
    row = browser.find_element("css selector", 'tr[data-run="lenet"]').text
    assert "400 of 400" in row and "base_lr 0.01" in row
    assert browser.find_elements("css selector", '[data-layer="conv"]')
    assert not browser.get_log("browser")
    text = path.read_text()
    assert "http://" not in text.replace("http://www.w3.org", "") and "<link" not in text


@pytest.fixture
def call_pcd():
    from pycaffe_dist.cli import main

    return lambda *words: main([str(word) for word in words]) == 0 or pytest.fail("pcd failed")
