"""Results as JSON that keeps what was measured before."""
import json
import os


def read(path, what):
    """What bench/`what` has written there; without a file none, and with another's a line and an end."""
    if path and os.path.exists(path):
        try:
            with open(path) as f:
                results = json.load(f)
        except (OSError, ValueError):
            results = None
        if not isinstance(results, dict) or results.get("format") != f"ingot-{what}":
            raise SystemExit(f"{what}: {path}: not results of bench/{what}")
        return results
    return {"format": f"ingot-{what}", "version": 1, "results": []}


def write(results, path):
    with open(f"{path}.new", "w") as f:
        json.dump(results, f, indent=1, sort_keys=True)
        f.write("\n")
    os.replace(f"{path}.new", path)
