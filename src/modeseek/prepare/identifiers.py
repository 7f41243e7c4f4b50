"""Columns of numbers that are identifiers or dates, recognised by their values and their names."""

from __future__ import annotations

import re

from modeseek.prepare.config import PrepareConfig
from modeseek.prepare.facts import ColumnFacts

# last words of the names of identifiers, and names that are identifiers only as a whole
LAST_WORDS = {"id", "uuid", "guid", "nr", "no", "num", "number", "numero", "nummer", "key", "code", "account", "konto"}
LAST_WORDS |= {"zip", "zipcode", "postcode", "postalcode", "plz", "phone", "ean", "isbn", "sku", "barcode"}
WHOLE_NAMES = {"index", "idx", "row"}
JOINED = re.compile(r"(?:user|order|customer|cust|client|product|item|session|employee|patient|sample|case)id$|nummer$")
# last words of the names of times
TIME_WORDS = {"unix", "epoch", "time", "timestamp", "ts", "date", "datetime", "at", "created", "updated", "modified"}
# from 1990 to 2040 in seconds since 1970, and parts of a second in which times are counted
UNIX_SECONDS = (631_152_000, 2_208_988_800)
SECOND_PARTS = (1, 10**3, 10**6, 10**9)


def words_of(name: str) -> list[str]:
    """Return the words of a name in lower case.

    Examples
    --------
    >>> words_of("customerID"), words_of("Order No."), words_of("cust_id")
    (['customer', 'id'], ['order', 'no'], ['cust', 'id'])
    """
    return [word.lower() for word in re.findall(r"[^\W\d_a-z]+(?![a-z])|[^\W\d_][^\W\d_A-Z]*", name)]


def names_identifier(name: str) -> bool:
    """Return whether a name is one of identifiers.

    Examples
    --------
    >>> [names_identifier(name) for name in ("ID", "orderId", "id_client", "userid", "Kundennummer", "paid", "index")]
    [True, True, True, True, True, False, True]
    """
    words = words_of(name)
    if not words:
        return False
    named = words[-1] in LAST_WORDS or words[0] == "id" or JOINED.search(words[-1])
    return bool(named) or (len(words) == 1 and words[0] in WHOLE_NAMES)


def integer_reason(name: str, facts: ColumnFacts, config: PrepareConfig) -> str:
    """Return why a column of numbers is left out, or "": dates, identifiers, or integers that increase steadily."""
    if facts.days == facts.rows - facts.missing or (_unix_unit(facts) and TIME_WORDS.intersection(words_of(name)[-1:])):
        return "dates"
    if facts.all_different and facts.rows >= config.min_counted_rows:
        long = facts.low >= config.min_long_identifier and len(f"{facts.low:.0f}") == len(f"{facts.high:.0f}")
        if long or names_identifier(name):
            return "identifiers"
    if facts.steady(config):
        return "increasing integers" if facts.rises > 0 else "decreasing integers"
    return ""


def possible_reason(name: str, facts: ColumnFacts, config: PrepareConfig) -> str:
    """Return what a column that is kept may be instead of a measurement, or ""."""
    if facts.rows < config.min_counted_rows or not facts.hashed or facts.values:
        return ""
    if _unix_unit(facts) == 1:
        return "times in seconds since 1970"
    return "identifiers" if names_identifier(name) else ""


def _unix_unit(facts: ColumnFacts) -> int:
    """Return the part of a second in which all numbers are times from 1990 to 2040; 0 if there is none."""
    low, high = UNIX_SECONDS
    fitting = (unit for unit in SECOND_PARTS if facts.low >= low * unit and facts.high < high * unit)
    return next(fitting, 0)
