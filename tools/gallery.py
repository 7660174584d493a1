"""Makes the thumbnails of the gallery: runs each page's cells, and keeps the picture that it shows.

`python tools/gallery.py` makes all of them, `python tools/gallery.py kalman` those of the pages named, and
`--pictures FOLDER` keeps every picture in full size, to be looked at. A page's thumbnail is its last picture, or that
of the cell tagged `thumbnail`.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator
from pathlib import Path

import page_cells
from PIL import Image

GALLERY = Path(__file__).resolve().parents[1] / "docs" / "gallery"
THUMBNAILS = GALLERY / "thumbnails"
SIZE = (360, 210)


def pages() -> list[Path]:
    """The programs of the gallery."""
    return sorted(page for page in GALLERY.glob("*.md") if page.stem != "index")


def pictures(page: Path) -> Iterator[tuple[bytes, bool]]:
    """The pictures that a page shows, as PNG, and whether the page wants one for its thumbnail."""
    import matplotlib.pyplot as plt  # heavy, and not needed to list pages

    shown: list[object] = []
    with tempfile.TemporaryDirectory(prefix="onnxsmith-gallery-") as place:
        before = os.getcwd()
        os.chdir(place)
        try:
            for cell, value in page_cells.steps(page, Path(place)):
                shown = [*map(plt.figure, plt.get_fignums())]
                if svg := getattr(value, "_repr_svg_", lambda: None)():
                    shown.append(svg)
                for each in shown:
                    yield drawn(each), "thumbnail" in cell.tags
                plt.close("all")
        finally:
            os.chdir(before)
            plt.close("all")


def drawn(picture: object) -> bytes:
    """A figure, or the text of an SVG, as PNG."""
    if isinstance(picture, str):
        import resvg_py  # draws SVG; not needed for figures

        return bytes(resvg_py.svg_to_bytes(svg_string=picture, width=1200, background="white"))
    buffer = io.BytesIO()
    picture.savefig(buffer, format="png", dpi=110, bbox_inches="tight")  # type: ignore[attr-defined]
    return buffer.getvalue()


def thumbnail(picture: bytes) -> Image.Image:
    """The picture as small as the index shows it, on white."""
    image = Image.open(io.BytesIO(picture)).convert("RGBA")
    # Graphs are much taller than wide: their upper part is enough to know them by.
    image = image.crop((0, 0, image.width, min(image.height, round(image.width * 0.9))))
    image.thumbnail(SIZE, Image.Resampling.LANCZOS)
    canvas = Image.new("RGB", SIZE, "white")
    canvas.paste(image, ((SIZE[0] - image.width) // 2, (SIZE[1] - image.height) // 2), image)
    return canvas.quantize(128)


def main() -> int:
    """Run the pages that are named, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--pictures", type=Path, help="keep every picture in this folder")
    arguments = parser.parse_args()
    os.environ.setdefault("MPLBACKEND", "agg")
    os.environ.setdefault("ONNXSMITH_DOCS", str(GALLERY.parent))
    THUMBNAILS.mkdir(exist_ok=True)
    without = []
    for page in pages():
        if arguments.names and page.stem not in arguments.names:
            continue
        began, wanted, last = time.process_time(), None, None
        try:
            for number, (picture, chosen) in enumerate(pictures(page)):
                last = picture
                wanted = picture if chosen else wanted
                if arguments.pictures:
                    arguments.pictures.mkdir(exist_ok=True)
                    (arguments.pictures / f"{page.stem}-{number}.png").write_bytes(picture)
        except Exception:  # a page may do anything; the others are drawn all the same
            traceback.print_exc()
            last = None
        print(f"{page.stem}: {time.process_time() - began:.1f} s", flush=True)
        if last is None:
            without.append(page.stem)
        else:
            thumbnail(wanted or last).save(THUMBNAILS / f"{page.stem}.png", optimize=True)
    if without:
        print("failed, or without a picture:", *without, file=sys.stderr)
    return bool(without)


if __name__ == "__main__":
    raise SystemExit(main())
