"""Error conditions, verbs and arguments are spelled as the specification spells them."""

import ast
import copy
import pickle
from pathlib import Path

import pytest

import oaipmhprotocol
from oaipmhprotocol import (
    BadArgument,
    BadResumptionToken,
    BadVerb,
    CannotDisseminateFormat,
    Header,
    IdDoesNotExist,
    NoMetadataFormats,
    NoRecordsMatch,
    NoSetHierarchy,
    OAIError,
    ResumptionToken,
    Verb,
    error_for_code,
)
from oaipmhprotocol.words import ARGUMENT_RULES, Argument

CONDITIONS = {
    "badArgument": BadArgument,
    "badResumptionToken": BadResumptionToken,
    "badVerb": BadVerb,
    "cannotDisseminateFormat": CannotDisseminateFormat,
    "idDoesNotExist": IdDoesNotExist,
    "noRecordsMatch": NoRecordsMatch,
    "noMetadataFormats": NoMetadataFormats,
    "noSetHierarchy": NoSetHierarchy,
}


@pytest.mark.parametrize(("code", "condition"), CONDITIONS.items())
def test_each_code_has_its_exception(code: str, condition: type[OAIError]) -> None:
    error = error_for_code(code, "because")
    assert type(error) is condition
    assert (error.code, error.message, str(error)) == (code, "because", f"{code}: because")


def test_every_exception_is_found_by_its_code() -> None:
    assert {cls.code: cls for cls in OAIError.__subclasses__()} == CONDITIONS


@pytest.mark.parametrize("code", ["badargument", "serviceUnavailable", "", "<x>"])
def test_an_unknown_code_is_kept_as_received(code: str) -> None:
    error = error_for_code(code, "because")
    assert type(error) is OAIError
    assert (error.code, error.message) == (code, "because")


def test_an_error_without_words_is_its_code() -> None:
    assert str(error_for_code("badVerb")) == "badVerb"
    assert str(OAIError(code="odd")) == "odd"


@pytest.mark.parametrize("error", [BadVerb("no"), OAIError("no", code="odd"), NoRecordsMatch()])
def test_errors_survive_copying_and_pickling(error: OAIError) -> None:
    for again in (copy.copy(error), pickle.loads(pickle.dumps(error))):
        assert type(again) is type(error)
        assert (again.code, again.message, str(again)) == (error.code, error.message, str(error))


def test_the_six_verbs_have_the_arguments_of_section_4() -> None:
    rules = {
        verb: (sorted(one.required), sorted(one.optional), one.exclusive)
        for verb, one in ARGUMENT_RULES.items()
    }
    listing = (["metadataPrefix"], ["from", "set", "until"], "resumptionToken")
    assert rules == {
        "GetRecord": (["identifier", "metadataPrefix"], [], None),
        "Identify": ([], [], None),
        "ListIdentifiers": listing,
        "ListMetadataFormats": ([], ["identifier"], None),
        "ListRecords": listing,
        "ListSets": ([], [], "resumptionToken"),
    }
    assert set(ARGUMENT_RULES) == set(Verb)


def test_words_are_their_wire_spelling_wherever_text_is_wanted() -> None:
    assert f"{Verb.LIST_RECORDS}?{Argument.FROM}" == "ListRecords?from"
    assert Verb("GetRecord") is Verb.GET_RECORD


def test_values_are_frozen_and_equal_by_content() -> None:
    header = Header("oai:x:1", "2004-06-24", ("a:b",))
    assert header == Header("oai:x:1", "2004-06-24", ("a:b",))
    assert hash(header) == hash(Header("oai:x:1", "2004-06-24", ("a:b",)))
    assert ResumptionToken("t").complete_list_size is None
    with pytest.raises(AttributeError):
        header.deleted = True  # type: ignore[misc]  # that it is refused is what is tested


def test_the_package_is_pure() -> None:
    allowed = {"collections", "dataclasses", "datetime", "enum", "functools", "re", "urllib"}
    allowed.add("oaipmhprotocol")
    for path in Path(oaipmhprotocol.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                assert (node.module or "").partition(".")[0] in allowed
            elif isinstance(node, ast.Import):
                assert {alias.name for alias in node.names} <= allowed
