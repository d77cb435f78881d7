"""What people type, parsed at the door. What the verbs refuse is shown at its field too."""

import re
from hashlib import sha256
from typing import Any
from uuid import uuid4

from django import forms
from django.contrib.auth.forms import AuthenticationForm

from accounts.actor import Actor
from accounts.errors import BrainError
from memory.edit import Changes
from memory.types import Idempotency, Memory

BOTH = "both"
AUTO, EXHAUSTIVE = "auto", "exhaustive"
LINE_BREAK = re.compile("\r\n?")


class SignInForm(AuthenticationForm):
    username = forms.EmailField(
        label="E-mail address",
        widget=forms.EmailInput(attrs={"autofocus": True, "autocomplete": "username", "dir": "ltr"}),
    )


class VerbatimField(forms.CharField):
    """Text as it was typed. A browser sends every line break as CR LF, whatever was in the field: back to LF."""

    widget = forms.Textarea

    def __init__(self, **options: Any) -> None:
        super().__init__(strip=False, **options)

    def to_python(self, value: Any) -> str:
        return str(super().to_python(value)).replace("\r\n", "\n")

    def has_changed(self, initial: Any, data: Any) -> bool:
        """Not when only the line breaks differ: the stored words may have some that no browser can send."""
        return bool(super().has_changed(*(LINE_BREAK.sub("\n", words or "") for words in (initial, data))))


class TagsField(forms.CharField):
    """Tags with commas between them."""

    def __init__(self, **options: Any) -> None:
        super().__init__(label="Tags", required=False, help_text="With commas between them.", **options)

    def to_python(self, value: Any) -> str:
        return ", ".join(tag.strip() for tag in str(super().to_python(value)).split(",") if tag.strip())


def tags_from(text: str) -> tuple[str, ...]:
    return tuple(text.split(", ")) if text else ()


class CaptureForm(forms.Form):
    content = VerbatimField(
        label="What should be remembered?",
        widget=forms.Textarea(attrs={"rows": 5, "autofocus": True, "dir": "auto"}),
        error_messages={"required": "There is nothing to keep yet."},
    )
    tags = TagsField(widget=forms.TextInput(attrs={"dir": "auto"}))
    node = forms.CharField(
        label="File it under",
        required=False,
        help_text="Such as Business/Sales. Empty: the Inbox.",
        widget=forms.TextInput(attrs={"dir": "auto"}),
    )
    # `autocomplete`: a browser must not put an old page's id into a new one
    form_id = forms.UUIDField(widget=forms.HiddenInput(attrs={"autocomplete": "off"}))

    def __init__(self, actor: Actor, data: Any = None, *, scope: str = "", node: str = "") -> None:
        """scope, node: where to start from, as a link from a node's page says."""
        scopes = [str(brain.scope) for brain in actor.writable]
        first = scope if scope in scopes else next(iter(scopes), "")
        super().__init__(data, initial={"form_id": uuid4(), "scope": first, "node": node})
        self.fields["scope"] = forms.ChoiceField(
            label="Who will see it",
            choices=[(scope, scope.capitalize()) for scope in scopes],
            widget=forms.RadioSelect,
        )

    def idempotency(self) -> Idempotency:
        """One form keeps the same words once. Other words from it (after the browser's Back) are another memory."""
        words = [str(self.cleaned_data[name]) for name in ("content", "scope", "tags", "node")]
        body = sha256("\0".join(words).encode()).digest()
        return Idempotency(f"web:{self.cleaned_data['form_id']}:{body.hex()[:32]}", body)


class SearchForm(forms.Form):
    """`node`: only below this one (an id or a path). It is part of a page's address, as everything here."""

    q = forms.CharField(
        label="Search",
        required=False,
        widget=forms.TextInput(
            attrs={"type": "search", "dir": "auto", "placeholder": "Ask in your own words", "enterkeyhint": "search"}
        ),
    )
    node = forms.CharField(required=False, widget=forms.HiddenInput)
    mode = forms.ChoiceField(choices=[(mode, mode) for mode in (AUTO, EXHAUSTIVE)], required=False)

    def __init__(self, actor: Actor, data: Any) -> None:
        super().__init__(data)
        scopes = [str(brain.scope) for brain in actor.readable]
        choices = [(scope, scope.capitalize()) for scope in scopes]
        if len(scopes) > 1:
            choices.insert(0, (BOTH, " and ".join(scopes).capitalize()))
        self.fields["scope"] = forms.ChoiceField(label="Where to search", choices=choices, required=False)
        self.default_scope = choices[0][0] if choices else BOTH


class EditForm(forms.Form):
    """`revision` is the one that the person read: whoever changed it meanwhile is not overwritten unseen."""

    content = VerbatimField(label="Words", widget=forms.Textarea(attrs={"rows": 8, "dir": "auto"}))
    tags = TagsField(widget=forms.TextInput(attrs={"dir": "auto"}))
    node = forms.CharField(label="Filed under", widget=forms.TextInput(attrs={"dir": "auto"}))
    revision = forms.IntegerField(widget=forms.HiddenInput(attrs={"autocomplete": "off"}))

    def __init__(self, memory: Memory, content: str | None, data: Any = None) -> None:
        """content: the words of a thought; None for a transcript, which is never rewritten."""
        initial = {
            "content": content,
            "tags": ", ".join(memory.tags),
            "node": memory.node.path,
            "revision": memory.revision,
        }
        super().__init__(data, initial=initial)
        if content is None:
            del self.fields["content"]

    def changes(self) -> Changes | None:
        """Only what the person changed; None when that is nothing."""
        changed = {name: self.cleaned_data[name] for name in ("content", "tags", "node") if name in self.changed_data}
        if "tags" in changed:
            changed["tags"] = tags_from(changed["tags"])
        return Changes(**changed) if changed else None


class RenameForm(forms.Form):
    name = forms.CharField(label="Name", widget=forms.TextInput(attrs={"dir": "auto", "autocomplete": "off"}))


def show_refusal(form: forms.Form, error: BrainError) -> None:
    """At the field that caused it, or above the form."""
    form.add_error(error.field if error.field in form.fields else None, error.message)
