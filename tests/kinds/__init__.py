"""One record a kind: all that shared tests have to know of it. A new kind is a record here, and every shared test is run on it.

Every field has to be given: one that is left out is named when the record is made, a kind without a record by
``test_records_of_kinds.py``, and by whatever test asks for it.
"""

import dataclasses


class Records(dict):
    """Records by kind, in the order they are listed in; asked for a kind that has none, it says where one belongs."""

    def __init__(self, family, *records):
        super().__init__((record.kind, record) for record in records)
        assert len(self) == len(records), "a kind has two records"
        self.family, self.form = family, type(records[0])

    def __missing__(self, kind):
        raise LookupError(self.forgotten(kind))

    def forgotten(self, kind):
        """The remedy for a kind that has no record."""
        fields = ", ".join(f"{field.name}=..." for field in dataclasses.fields(self.form))
        name = f"{self.family}.{kind.__name__}"
        return f"mobod.{name} has no record: add {self.form.__name__}({fields}) to tests/kinds/{self.family}s.py"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Changeable:
    """A number, or several, of a kind that a state can change: two values of it, and values that are refused."""

    one: object
    other: object
    refused: list
