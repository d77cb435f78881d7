"""Reading a page as a browser would: its elements, its visible text, and what its forms would send."""

from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any


@dataclass
class Element:
    tag: str
    attributes: dict[str, str]
    text: str = ""


@dataclass
class Page(HTMLParser):
    """`elements` in the order of the document. An element's `text` is everything between its tags."""

    html: str
    elements: list[Element] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[Element] = []
        self.feed(self.html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, {name: value or "" for name, value in attrs})
        self.elements.append(element)
        self.open.append(element)

    def handle_endtag(self, tag: str) -> None:
        while self.open and self.open.pop().tag != tag:  # void elements have no end
            pass

    def handle_data(self, data: str) -> None:
        for element in self.open:
            element.text += data

    def all(self, tag: str, **attributes: str) -> list[Element]:
        wanted = {name.rstrip("_"): value for name, value in attributes.items()}
        return [e for e in self.elements if e.tag == tag and wanted.items() <= e.attributes.items()]

    def one(self, tag: str, **attributes: str) -> Element:
        (element,) = self.all(tag, **attributes)
        return element

    def value(self, name: str) -> str:
        """Of the one field of that name that is no radio button."""
        fields = [e for e in self.elements if e.attributes.get("name") == name and e.attributes.get("type") != "radio"]
        (element,) = fields
        return element.text.removeprefix("\n") if element.tag == "textarea" else element.attributes.get("value", "")

    @property
    def structure(self) -> list[tuple[str, tuple[str, ...]]]:
        """Elements and their attributes' names, without any text: the same for harmless and hostile words."""
        return [(element.tag, tuple(sorted(element.attributes))) for element in self.elements]

    @property
    def text(self) -> str:
        (html,) = self.all("html")
        return html.text

    @property
    def words(self) -> list[str]:
        """The memories' words on this page, in order."""
        return [e.text for e in self.elements if "words" in e.attributes.get("class", "").split()]


def page(response: Any, *, status: int = 200) -> Page:
    assert response.status_code == status
    assert response["Content-Type"] == "text/html; charset=utf-8"
    return Page(response.content.decode())
