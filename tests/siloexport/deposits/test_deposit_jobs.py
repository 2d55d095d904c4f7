"""Deposits that begin on the page: places of the operator, and jobs that deposit."""

from pathlib import Path
from typing import Any

import pytest
from invenio_simulator import Simulator as Invenio
from sword_simulator import USER
from sword_simulator import Simulator as Sword

from recordsilo import Silo
from silowork.errors import JobRefused
from silowork.kinds import read_request
from silowork.running import run_job
from silowork.service import Jobs
from webui.export_forms import export_forms


def places(silo: Silo, kind: str, text: str) -> None:
    Path(silo.path, "curation").mkdir(exist_ok=True)
    Path(silo.path, "curation", f"{kind}.toml").write_text(text, encoding="utf-8")


def secret(tmp_path: Path, text: str) -> str:
    path = tmp_path / "secret"
    path.write_text(text, encoding="utf-8")
    path.chmod(0o600)
    return str(path)


def done(silo: Silo, **fields: str) -> Any:
    asked = read_request("export", fields, silo.path, 4)
    job = Jobs.of(silo.path).begin("export", asked.title, asked.arguments, "ada")
    run_job(silo.path, job.job_id)
    return Jobs.of(silo.path).ledger.job(job.job_id)


def test_form_of_sword_begins_a_job_that_deposits(
    silo: Silo, repository: Sword, tmp_path: Path
) -> None:
    login = secret(tmp_path, USER)
    places(silo, "sword", f'[theses]\nurl = "{repository.base}/sword/service"\n'
           f'credentials = "{login}"\npackaging = "mets"\n')  # fmt: skip
    (form,) = [one for one in export_forms(silo.path) if one.has("sword")]
    assert form.places == (("theses", f"theses ({repository.base}/sword/service)"),)
    assert {field.name for field, _ in form.fields} == {"place", "collection", "in_progress"}
    job = done(silo, form="sword", place="theses", in_progress="yes")
    assert job.counts["create"] == 3
    assert {one.packaging for one in repository.kept.values()} == {"METSDSpaceSIP"}
    assert all(one.in_progress for one in repository.kept.values())
    assert USER not in str(job.to_json())


@pytest.mark.long
def test_form_of_invenio_begins_a_job_that_deposits(
    silo: Silo, invenio: Invenio, tmp_path: Path
) -> None:
    invenio.needed = ("title",)
    token = secret(tmp_path, "abc\n")
    places(silo, "invenio", f'[zenodo]\nurl = "{invenio.base}"\ncredentials = "{token}"\n')
    assert done(silo, form="invenio", place="zenodo").counts["create"] == 3
    assert not any(one.is_published for one in invenio.kept.values())
    assert done(silo, form="invenio", place="zenodo", publish="yes").counts["create"] == 3
    assert all(one.is_published for one in invenio.kept.values())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "has no place 'x'; there are none"),
        ("[x", "cannot be read"),
        ('x = "y"', r"\[x\] it is not a table"),
        ('[x]\nurl = "https://a.example.org/"\npassword = "p"', "no setting 'password'"),
        ('[x]\nurl = "ftp://a.example.org/"', "must begin with http"),
        ('[x]\nurl = "https://a.example.org/"\ncredentials = "a"', "must be an absolute path"),
        ('[x]\nurl = "https://a.example.org/"\ncredentials = "{silo}/a"', "inside the Silo"),
    ],
)
def test_place_that_is_wrong_is_said_before_a_job_begins(silo: Silo, text: str, said: str) -> None:
    places(silo, "sword", text.replace("{silo}", silo.path))
    with pytest.raises(JobRefused, match=said):
        read_request("export", {"form": "sword", "place": "x"}, silo.path, 4)
