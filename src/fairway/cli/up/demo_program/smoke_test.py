"""Asks until the canary answers, and looks at what it says: `python3 smoke_test.py PORT`."""

import sys
import urllib.error
import urllib.request

for _ in range(20):
    try:
        answer = urllib.request.urlopen(f"http://127.0.0.1:{sys.argv[1]}/", timeout=5)
    except urllib.error.HTTPError as error:
        answer = error
    said = answer.read().decode().strip()
    sys.stdout.write(f"{answer.status} {said}\n")
    if answer.headers["X-Variant"] == "canary":
        sys.exit(0 if answer.status == 200 else "the canary does not greet")
sys.exit("the canary never answered")
