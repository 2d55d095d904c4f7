"""Figures as text for Prometheus."""

from silowork.prometheus import gauge


def test_a_metric_has_its_help_its_type_and_a_line_for_each_figure() -> None:
    samples = [({"state": "good", "node": "n1"}, 3.0), ({"state": "bad", "node": "n1"}, 0.25)]
    assert gauge("silo_jobs", "Jobs by state.", samples) == (
        "# HELP silo_jobs Jobs by state.\n"
        "# TYPE silo_jobs gauge\n"
        'silo_jobs{state="good",node="n1"} 3\n'
        'silo_jobs{state="bad",node="n1"} 0.25\n'
    )


def test_a_figure_without_labels_and_a_large_one_are_written_in_full() -> None:
    assert gauge("n", "All.", [({}, 123_456_789_012.0)]).endswith("\nn 123456789012\n")
    assert gauge("n", "None.", []) == "# HELP n None.\n# TYPE n gauge\n"


def test_names_of_others_end_no_label() -> None:
    text = gauge("n", "x", [({"name": 'a"} 1\nb\\'}, 1.0)])
    assert text.splitlines()[2:] == [r'n{name="a\"} 1\nb\\"} 1']
