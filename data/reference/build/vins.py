"""Builds `data/reference/vins.parquet`, facts of NHTSA's vPIC, and `test/fixtures/vins.csv`, what vPIC decodes some VINs to.

    python3 -m venv VENV && VENV/bin/pip install ultravin==3.0.2 pyarrow
    VENV/bin/python data/reference/build/vins.py

With the path of a file of VINs, one a line, prints what vPIC decodes them to.

The package holds the complete vPIC. Decoding VINs that reach every row of it, and VINs of every manufacturer and year, returns those
rows with their keys. Takes some minutes and 2 GB of memory.
"""

import csv
import re
import sys
from collections import defaultdict
from datetime import datetime
from pathlib import Path

import pyarrow
import pyarrow.parquet
import ultravin

reference = Path(__file__).parent.parent
fixture = reference.parent.parent / "test/fixtures/vins.csv"
now = datetime(2026, 11, 1)
years = range(1990, 2029)
# How many years a VIN can be of: position 7 tells those of cars and multipurpose vehicles before 2010 from later ones.
vehicle_types = {"2": "one", "7": "one", "3": "two", "5": "two", "10": "two"}
# The element of each attribute, by the id that NHTSA does not change.
attributes = {
    28: "model", 38: "trim", 5: "body_type", 15: "drivetrain", 24: "fuel", 66: "second_fuel", 126: "electrification",
    9: "cylinders", 13: "displacement", 64: "configuration", 14: "doors", 31: "city", 77: "state", 75: "country",
}
# Manufacturers of none of these are left out.
bodies = {"Chassis Cab", "Sedan", "SUV", "Coupe", "Hatchback", "Convertible", "Pickup", "Wagon", "Van", "Cargo Van", "Minivan"}
sources = {"Pattern": 0, "Formula Pattern": 1, "EngineModelPattern": 2, "Conversion": 3}


def read_csv(path):
    with open(path, encoding="utf-8") as file:
        return list(csv.DictReader(file))


values = {(row["element"], row["vpic"]): row["value"] for row in read_csv(reference / "build/vin-values.csv")}
canonical = {(row["attribute"], row["spelling"]): row["canonical"] for row in read_csv(reference / "spellings.csv")}
translated = {element for element, _ in values}


def title(text):
    return re.sub(r"[A-Za-z]+('[a-z]+)?", lambda word: word[0].capitalize(), text.strip())


def spelled(attribute, text):
    """Returns the project's spelling of a value in capitals."""
    plain = re.sub(r" \(.*\)$", "", text.strip()).lower()
    return canonical.get((attribute, plain)) or (text.strip() if len(text) <= 3 else title(plain))


def value_of(element, attribute, value):
    """Returns the value of an attribute in the project's words; None if they have none."""
    value = value.strip()
    if element in translated:
        return values.get((element, value))
    if attribute == "displacement":
        return f"{float(value):.1f}" if 0.3 <= float(value) <= 15 else None
    if attribute == "country":
        return spelled("assembly_country", value)
    if attribute in ("city", "state"):
        return title(value)
    if attribute == "trim":
        return None if re.search(r"[/,]|\bor\b", value) else value
    if attribute in ("cylinders", "doors"):
        return value if value.isdigit() else None
    return re.sub(r"\s+", " ", value.replace("|", "/")) or None


def decode(vins):
    for start in range(0, len(vins), 5000):
        yield from ultravin.decode_batch(vins[start : start + 5000], full=True, now=now)


class Harvest:
    """The rows of vPIC that decode some VINs, the manufacturers and years of each schema, and its keys."""

    def __init__(self):
        self.rows = {}
        self.years = defaultdict(set)
        self.keys = defaultdict(set)
        self.types = {}
        self.makes = {}

    def add(self, vins):
        for decoded in decode(vins):
            elements = {element["element_id"]: element for element in decoded["elements"]}
            wmi, year, kind = decoded["wmi"], decoded["model_year"], elements.get(39, {}).get("attribute_id")
            if 28 in elements and 26 in elements:
                self.makes[elements[28]["attribute_id"]] = spelled("make", elements[26]["value"])
            is_kept = kind in vehicle_types and len(wmi) == 3 and year in years
            if is_kept:
                self.types[wmi] = vehicle_types[kind]
            for element in decoded["elements"]:
                self.add_element((wmi, year) if is_kept else None, element)

    def add_element(self, wmi_and_year, element):
        source = "Conversion" if element["source"].startswith("Conversion") else element["source"]
        schema, keys = element["vin_schema_id"], (element["keys"] or "").upper()
        if source not in sources or schema is None:
            return
        if source == "Pattern":
            self.keys[schema].add(keys)
            if wmi_and_year is not None:
                wmi, year = wmi_and_year
                self.years[wmi, schema].add(year)
        attribute = attributes.get(element["element_id"])
        if attribute is not None and "#" not in keys:
            row = (schema, attribute, keys, element["variable"], element["value"], element["attribute_id"])
            self.rows[row] = (sources[source], -(element["created_on"] or 0), element["pattern_id"] or 0)


def positions(key):
    """Returns the accepted characters of each position of a key: those of positions 4 to 8, then of 10 on. `*` accepts all."""
    parts = [re.findall(r"\[[^]]*\]|.", part) for part in key.replace("1-A", "1A").split("|")]
    first = (parts[0] + ["*"] * 5)[:5]
    return first + (parts[1] if len(parts) > 1 else [])


def pattern_of(key):
    """Returns a key as a GLOB pattern over positions 4 to 8 and 11; None if it depends on others."""
    signs = positions(key) + ["*"] * 2
    if any(sign != "*" for sign in signs[5:6] + signs[7:]):
        return None
    return "".join("?" if sign == "*" else sign for sign in [*signs[:5], signs[6]])


def characters(sign):
    """Returns the characters that a sign of a key accepts."""
    body = re.sub(r"(.)-(.)", lambda ends: "".join(map(chr, range(ord(ends[1]), ord(ends[2]) + 1))), sign.strip("[]"))
    return set(body)


def valid_patterns(schemas_of_year):
    """Yields first year, last year and the pattern of known characters, for years in a row with the same one."""
    previous = None
    for year in [*years, None]:
        signs = [set() for _ in range(6)]
        for key in schemas_of_year.get(year, ()):
            found = positions(key) + ["*"] * 2
            for place, sign in enumerate([*found[:5], found[6]]):
                signs[place] |= characters(sign) if sign != "*" else set()
        pattern = "".join(f"[{''.join(sorted(sign))}]" if sign else "?" for sign in signs) if year in schemas_of_year else None
        if previous is not None and previous[2] == pattern:
            previous = (previous[0], year, pattern)
            continue
        if previous is not None and previous[2] is not None:
            yield previous
        previous = (year, year, pattern)


def table_rows(harvest):
    """Returns the rows of the table by manufacturer. Of those of an attribute that match a VIN, the first applies."""
    of_schema = defaultdict(list)
    for (schema, attribute, keys, variable, value, attribute_id), (source, created, pattern_id) in harvest.rows.items():
        pattern, known = pattern_of(keys), value_of(variable, attribute, value)
        if attribute == "model" and known is not None:
            known = f"{harvest.makes[attribute_id]}|{known}" if attribute_id in harvest.makes else None
        bare = keys.replace("*", "")
        if pattern is not None:
            order = (source, created, len(bare), re.sub(r"[][]", "", bare), pattern_id)
            of_schema[schema].append((attribute, order, pattern, known or ""))
    rows, schemas, makes = [], defaultdict(lambda: defaultdict(set)), defaultdict(set)
    for (wmi, schema), found in harvest.years.items():
        first, last = min(found), max(found)
        for year in range(first, last + 1):
            schemas[wmi][year].add(schema)
        for attribute, (source, *order), pattern, value in of_schema[schema]:
            newest = -first if source == 0 else 0
            rows.append((wmi, attribute, (source, newest, *order), first, last, pattern, value))
            if attribute == "model" and value:
                makes[wmi].add(value.split("|")[0])
    rows = list(dict.fromkeys((wmi, attribute, *row) for wmi, attribute, _, *row in sorted(rows)))
    for wmi, by_year in schemas.items():
        keys_of = {year: set().union(*(harvest.keys[schema] for schema in found)) for year, found in by_year.items()}
        rows += [(wmi, "valid", *valid, harvest.types[wmi]) for valid in valid_patterns(keys_of)]
        rows.append((wmi, "makes", years[0], years[-1], "*", "|".join(sorted(makes[wmi]))))
    sold = {wmi for wmi, attribute, _, _, _, value in rows if attribute == "body_type" and value in bodies}
    # The few rows that decide whether a VIN decodes come first, so that a reader can skip the others.
    return sorted((row for row in rows if row[0] in sold), key=lambda row: (row[1] != "valid", row[0]))


def write_table(rows):
    wmi, attribute, first, last, pattern, value = zip(*rows)
    short = pyarrow.int16()
    columns = {"wmi": wmi, "attribute": attribute, "year_from": pyarrow.array(first, short), "year_to": pyarrow.array(last, short)}
    table = pyarrow.table({**columns, "pattern": pattern, "value": value}).replace_schema_metadata(ultravin.provenance())
    pyarrow.parquet.write_table(
        table, reference / "vins.parquet", compression="zstd", compression_level=19, row_group_size=8192
    )


def expected(decoded):
    """Returns the attributes of a decoded VIN in the project's words, without those that it has of the model's equipment."""
    elements = {element["element_id"]: element for element in decoded["elements"]}
    kind = elements.get(39, {}).get("attribute_id")
    # Not faults: a check digit, a serial number, an off-road vehicle, and what no pattern uses.
    faults = set(decoded["error_codes"]) - {0, 1, 9, 10, 14, 400}
    if kind not in vehicle_types or faults or 28 not in elements or decoded["model_year"] not in years or decoded["vin"][2] == "9":
        return {}
    known = {
        attribute: value_of(elements[id]["variable"], attribute, elements[id]["value"]) or ""
        for id, attribute in attributes.items()
        if id in elements and elements[id]["source"] in sources or elements.get(id, {}).get("source", "").startswith("Conv")
    }
    part = lambda name: known.get(name, "")
    powertrain = part("electrification") or {part("second_fuel"): "HEV", part("fuel"): "BEV"}.get("Electric", "")
    fuel = "Flex Fuel" if part("second_fuel") == "Flex Fuel" else part("fuel")
    engine = [part("displacement"), part("configuration"), part("cylinders")]
    return {
        "year": decoded["model_year"], "make": spelled("make", elements[26]["value"]),
        **{name: part(name) for name in ("model", "trim", "body_type", "drivetrain", "cylinders", "doors")},
        "fuel_type": {"HEV": "Hybrid", "PHEV": "Plug-In Hybrid"}.get(powertrain, fuel), "powertrain_type": powertrain,
        "engine": f"{engine[0]}L {engine[1]}{engine[2]}" if all(engine) else "",
        "assembly_location": ", ".join(filter(None, [part("city"), part("state")])) if part("city") else "",
        "assembly_country": part("country"),
    }


def write_expected(vins, file):
    columns = ["vin", "year", "make", "model", "trim", "body_type", "drivetrain", "fuel_type", "powertrain_type", "engine", "cylinders", "doors"]
    writer = csv.DictWriter(file, [*columns, "assembly_location", "assembly_country"], restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows({"vin": decoded["vin"], **expected(decoded)} for decoded in decode(vins))


def write_fixture():
    makes = ["TOYOTA", "HONDA", "FORD", "CHEVROLET", "NISSAN", "HYUNDAI", "BMW", "TESLA", "RAM", "SUBARU", "VOLVO", "ISUZU"]
    vins = ultravin.cover_vins()[::2]
    for make in makes:
        vins += ultravin.generate(10, make=make, min_year=1992, max_year=2027, seed=39, invalid_rate=0.1, now=now)
    with open(fixture, "w", encoding="utf-8", newline="") as file:
        write_expected(vins, file)


def main():
    if len(sys.argv) > 1:
        return write_expected(Path(sys.argv[1]).read_text(encoding="utf-8").split(), sys.stdout)
    harvest = Harvest()
    harvest.add(ultravin.sweep())
    for wmi in sorted(harvest.types):
        for year in years:
            harvest.add(ultravin.generate(80, wmi=wmi, year=year, seed=year, invalid_rate=0, now=now))
    write_table(table_rows(harvest))
    write_fixture()


if __name__ == "__main__":
    main()
