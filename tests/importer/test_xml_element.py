"""XML is read with lines, and hostile files are refused before they cost anything."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from mobod.errors import ModelError
from mobod.importer import xml_element
from mobod.importer.xml_element import read_xml

BILLION_LAUGHS = (
    '<?xml version="1.0"?>\n<!DOCTYPE lolz [\n <!ENTITY lol "lol">\n'
    + "".join(f' <!ENTITY lol{n} "{f"&lol{n - 1};" * 10}">\n' for n in range(1, 12)).replace("&lol0;", "&lol;")
    + ']>\n<robot name="&lol11;">&lol11;</robot>'
)


def test_elements_know_their_line_and_order(write):
    root = read_xml(write('<?xml version="1.0"?>\n<a x="1">\n <b/>\n\n <c\n  y="2"/><b>text</b></a>'))
    assert (root.tag, root.attributes, root.line) == ("a", {"x": "1"}, 2)
    assert [(child.tag, child.line) for child in root.children] == [("b", 3), ("c", 5), ("b", 6)]
    assert [child.line for child in root.find_all("b")] == [3, 6]


def test_line_numbers_do_not_wrap(write):
    root = read_xml(write("<a>" + "\n" * 70_000 + "<b/></a>"))
    assert root.children[0].line == 70_001


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "the file is empty"),
        (" \n\t\n", "the file is empty"),
        ("not xml at all", ":1: not well-formed XML: syntax error"),
        ("<robot>\n<link name='a'>\n</robot>", ":3: not well-formed XML: mismatched tag"),
        (
            "<robot>\n<link name='a' name='b'/></robot>",
            ":2: not well-formed XML: duplicate attribute",
        ),
        ("<robot>\n<link name=a/></robot>", ":2: not well-formed XML"),
        ("<robot>\n\n", ":3: not well-formed XML: no element found"),
        ("<robot>&nothing;</robot>", ":1: not well-formed XML: undefined entity"),
        ("<robot/>\n<robot/>", ":2: not well-formed XML: junk after document element"),
        (b"<robot>\n\xff\xfe</robot>", ":2: not well-formed XML: not well-formed (invalid token)"),
        (b"\x00\x01\x02\x7fELF", "not well-formed XML"),
        ('<?xml version="1.0" encoding="klingon"?><robot/>', "encoding"),
        ('<?xml version="1.0" encoding="utf-7"?><robot/>', "encoding"),
        (BILLION_LAUGHS, ":2: a document type declaration (<!DOCTYPE lolz>) is not allowed"),
        ('<!DOCTYPE r SYSTEM "file:///etc/passwd"><r/>', "a document type declaration"),
        (
            '<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]>\n<r>&x;</r>',
            "a document type declaration",
        ),
        (
            '<!DOCTYPE r [<!ENTITY % p SYSTEM "http://localhost/x"> %p;]><r/>',
            "a document type declaration",
        ),
        ("<a>" * 300 + "</a>" * 300, "nested more than 200 deep"),
    ],
)
def test_broken_and_hostile_files_are_refused(write, content, message):
    path = write(content)
    started = time.process_time()
    with pytest.raises(ModelError) as caught:
        read_xml(path)
    assert message in str(caught.value)
    assert str(caught.value).startswith(str(path))
    assert time.process_time() - started < 1.0


def test_a_utf_16_file_is_read(write):
    assert read_xml(write('<?xml version="1.0" encoding="utf-16"?><röbot/>'.encode("utf-16"))).tag == "röbot"


def test_size_and_number_of_elements_are_limited(write, monkeypatch):
    monkeypatch.setattr(xml_element, "MAX_BYTES", 1 << 20)
    with pytest.raises(ModelError, match="larger than 1 MiB"):
        read_xml(write("<a>" + " " * (1 << 20) + "</a>"))
    monkeypatch.setattr(xml_element, "MAX_ELEMENTS", 10)
    with pytest.raises(ModelError, match=":2: more than 10 elements"):
        read_xml(write("<a>\n" + "<b/>" * 10 + "</a>"))


def test_files_that_cannot_be_opened_are_os_errors(tmp_path: Path):
    with pytest.raises(FileNotFoundError):
        read_xml(tmp_path / "missing.urdf")
    with pytest.raises(OSError):
        read_xml(tmp_path)
