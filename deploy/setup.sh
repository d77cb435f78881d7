#!/bin/sh
# Finds a Python 3.11 and hands over to setup.py. Each is tried: pyenv puts names on the path that do not run.
for python in python3.11 python3 python; do
    if "$python" -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' >/dev/null 2>&1; then
        exec "$python" "$(dirname "$0")/setup.py" "$@"
    fi
done
echo "Brain needs Python 3.11, and none is on the path (python3.11, python3, python)." >&2
echo "Debian 12: apt-get install python3-venv   macOS: brew install python@3.11   or use docker-compose.yml" >&2
exit 78
