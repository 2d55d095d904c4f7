"""A question with fields: one page for every change that needs a form or a confirmation.

Its JSON twin describes what the form would send: method, address and fields.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from recordsilo import HarvestedRecord
from webui import urls
from webui.http.messages import revision_tag
from webui.rendering import View
from webui.words.texts import text as _


@dataclass(frozen=True, slots=True)
class QuestionField:
    """One field of a form, in the page's language.

    Attributes:
        hint: A sentence under it.
        limit: Maximum bytes of a file, or 0.
    """

    name: str
    label: str = ""
    kind: Literal["text", "file", "checkbox", "hidden"] = "text"
    value: str = ""
    hint: str = ""
    required: bool = False
    limit: int = 0


def message_field() -> QuestionField:
    """The field for the reason of a change."""
    return QuestionField("message", _("Reason"), hint=_("Recorded with the change. Optional."))


@dataclass(frozen=True, slots=True)
class Question:
    """A form on its own page.

    Attributes:
        revision: The record's, sent with the form so that a change in the meantime is detected.
        back: The address of "Cancel".
        is_danger: It deletes.
    """

    title: str
    text: str
    action: str
    submit: str
    fields: tuple[QuestionField, ...]
    identifier: str
    revision: int
    back: str
    is_danger: bool = False

    @property
    def is_upload(self) -> bool:
        """Whether one of the fields is a file."""
        return any(field.kind == "file" for field in self.fields)


def question_view(question: Question, url: str) -> View:
    """Return the page of a question."""
    tag = revision_tag(question.revision)
    data = {"question": question}
    return View("form.mako", data, _as_json(question), url, headers={"ETag": tag})


def asked_of(
    record: HarvestedRecord,
    *,
    title: str,
    text: str,
    action: str,
    submit: str,
    fields: tuple[QuestionField, ...],
    back: str,
    query: Mapping[str, object] | None = None,
    is_danger: bool = False,
) -> View:
    """Return the page of a question about a record; the arguments are those of `Question`.

    Args:
        query: Fields of the page's address, which is that of the action.
    """
    question = Question(
        title, text, action, submit, fields, record.item_id, record.revision, back, is_danger
    )
    return question_view(question, urls.with_query(action, query or {}))


def _as_json(question: Question) -> dict[str, Any]:
    return {
        "title": question.title,
        "text": question.text,
        "method": "POST",
        "action": question.action,
        "identifier": question.identifier,
        "revision": question.revision,
        "fields": [
            {"name": f.name, "kind": f.kind, "value": f.value, "required": f.required}
            for f in question.fields
        ],
    }
