"""Figures as text for Prometheus, format 0.0.4 (pure).

Source: prometheus.io, "Exposition formats".
"""

from collections.abc import Iterable, Mapping

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"
Sample = tuple[Mapping[str, str], float]
"""The labels of a figure, and its value."""


def gauge(name: str, text: str, samples: Iterable[Sample]) -> str:
    """Return the lines of a metric.

    Args:
        name: Its whole name.
        text: What it counts.
        samples: Its figures.
    """
    lines = [f"# HELP {name} {text}", f"# TYPE {name} gauge"]
    for labels, value in samples:
        said = ",".join(f'{key}="{_escaped(one)}"' for key, one in labels.items())
        lines.append(f"{name}{{{said}}} {value:.15g}" if said else f"{name} {value:.15g}")
    return "\n".join(lines) + "\n"


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
