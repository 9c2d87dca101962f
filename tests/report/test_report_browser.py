"""The page in a real browser: no console message, no outside request, no sideways scrolling.

The page's own content security policy forbids every outside request, and Chromium reports an
attempt on the console. One test shows that it would.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from html import escape
from pathlib import Path

import pytest
from live_processes import PATIENCE

CHROMIUM = shutil.which("chromium")
# Ubuntu has a program of that name which only says that there is none.
IS_THERE = CHROMIUM and subprocess.run([CHROMIUM, "--version"], capture_output=True).returncode == 0

pytestmark = pytest.mark.skipif(
    not IS_THERE, reason="there is no chromium (Debian: apt-get install chromium)"
)

PHONE = 390

# Desktop Chromium has no window narrower than 500 pixels: the phone is a frame in a page.
_FRAME = """<!DOCTYPE html><body style="margin:0">
<iframe id="phone" style="width:{width}px;height:2400px;border:0" srcdoc="{page}"></iframe>
<script>
const phone = document.getElementById("phone");
phone.onload = () => {{
  const root = phone.contentDocument.documentElement;
  document.title = `${{root.scrollWidth}} of ${{root.clientWidth}}`;
}};
</script></body>"""


def browse(page: str, folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Opens a page in a browser with a fresh profile; its console is in `stderr`."""
    file = folder / "page.html"
    file.write_text(page, encoding="utf-8")
    flags = (
        *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
        *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
        *("--enable-logging=stderr", "--v=0", "--hide-scrollbars"),
        f"--user-data-dir={folder / 'profile'}",
    )
    return subprocess.run(
        [str(CHROMIUM), *flags, *options, file.as_uri()],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=True,
    )


def console(result: subprocess.CompletedProcess[str]) -> list[str]:
    return [line for line in result.stderr.splitlines() if ":CONSOLE" in line]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_desktop(page: str, tmp_path: Path, scheme: str) -> None:
    picture = tmp_path / "desktop.png"
    result = browse(
        page,
        tmp_path,
        f"--screenshot={picture}",
        "--window-size=1280,2400",
        f"--blink-settings=preferredColorScheme={int(scheme == 'light')}",
    )
    assert console(result) == []
    corner, colours = look_at(picture, (1280, 2400))
    assert (min(corner) > 200) == (scheme == "light")
    assert colours > 50


def test_phone_does_not_scroll_sideways(page: str, tmp_path: Path) -> None:
    picture = tmp_path / "phone.png"
    frame = _FRAME.format(width=PHONE, page=escape(page))
    browse(frame, tmp_path, f"--screenshot={picture}", "--window-size=500,2400")
    assert look_at(picture, (500, 2400))[1] > 50
    result = browse(frame, tmp_path, "--dump-dom", "--window-size=500,2400")
    assert console(result) == []
    assert re.search("<title>(.*?)</title>", result.stdout).group(1) == f"{PHONE} of {PHONE}"


def test_an_outside_request_would_be_seen(page: str, tmp_path: Path) -> None:
    spoilt = page.replace("</body>", '<img src="https://example.org/x.png"></body>')
    found = console(browse(spoilt, tmp_path, "--dump-dom"))
    assert any("Content Security Policy" in line for line in found)


def look_at(picture: Path, size: tuple[int, int]) -> tuple[tuple[int, ...], int]:
    """The colour of a picture's corner, and how many colours it has."""
    image = pytest.importorskip("PIL.Image").open(picture).convert("RGB")
    assert image.size == size
    return image.getpixel((2, 2)), len(image.getcolors(maxcolors=1 << 24))
