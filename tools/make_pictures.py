"""Makes the picture that the README opens with: the viewer on BERT, as onnxsmith exports it from PyTorch.

Needs Chromium and playwright, and no network: the model has the shape of BERT, and random weights.
"""

from __future__ import annotations

import argparse
import importlib
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

PLACE = Path(__file__).resolve().parent.parent / "docs" / "_static" / "viewer.png"
#: A picture that everybody who opens the README loads.
MOST_BYTES = 200_000
_WIDTH, _HEIGHT = 1360, 760
#: Opens the second layer down to its attention, and chooses the node that the picture is about.
_POSE = """async () => {
    viewer.select(viewer.search.find("layer.1 op:attention")[0]);
    await new Promise((done) => setTimeout(done, 600));
    const { frame, item } = viewer.chosen, scale = 0.82, canvas = viewer.canvas;
    viewer.camera.moveTo(canvas.clientWidth / 2 - (frame.itemLeft(item) + frame.widths[item] / 2) * scale,
        canvas.clientHeight * 0.56 - frame.itemTop(item) * scale, scale, true);
    await new Promise((done) => setTimeout(done, 200));
}"""


def make_page(folder: Path) -> Path:
    """The page of a BERT with four layers."""
    torch: Any = importlib.import_module("torch")
    transformers: Any = importlib.import_module("transformers")
    exporter: Any = importlib.import_module("onnxsmith.torch")
    torch.manual_seed(0)
    config = transformers.BertConfig(
        num_hidden_layers=4, hidden_size=256, num_attention_heads=4, attn_implementation="eager"
    )
    module = transformers.BertModel(config, add_pooling_layer=False).eval()
    tokens = torch.arange(32).reshape(1, 32)
    model = exporter.export(module, (tokens,), runtime=None)
    place = folder / "bert.onnx.html"
    model.place = Path("bert.onnx")
    model.show(place)
    return place


def main() -> int:
    """Make the picture; the result is the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", type=Path, default=PLACE, help="where it goes")
    output: Path = parser.parse_args().output
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        print("Chromium is not installed: apt-get install chromium", file=sys.stderr)
        return 1
    playwright: Any = importlib.import_module("playwright.sync_api")
    with tempfile.TemporaryDirectory() as folder, playwright.sync_playwright() as engine:
        page_file = make_page(Path(folder))
        browser = engine.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": _WIDTH, "height": _HEIGHT})
        page.goto(page_file.as_uri())
        page.wait_for_selector("html[data-ready]")
        page.evaluate(_POSE)
        output.parent.mkdir(parents=True, exist_ok=True)
        page.screenshot(path=str(output))
        browser.close()
    size = output.stat().st_size
    print(f"{output}: {size:,} bytes")
    return 0 if size <= MOST_BYTES else 1


if __name__ == "__main__":
    sys.exit(main())
