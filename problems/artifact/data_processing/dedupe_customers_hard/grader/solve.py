"""Make the reference from the inputs: python solve.py WORKSPACE > reference_output.jsonl"""

from __future__ import annotations

import csv
import json
import re
import sys
from collections import defaultdict
from datetime import datetime
from itertools import combinations
from pathlib import Path

SOURCE_RANK = {"crm": 0, "support": 1, "shop": 2}
DROPPED_WORDS = {"ltd", "gmbh", "inc", "srl", "co", "and"}
LARGEST_GROUP = 6

Record = dict[str, object]


def clean_email(raw: str) -> str | None:
    """Return the email in its comparable form, or None."""
    parts = raw.strip().lower().split("@")
    if len(parts) != 2:
        return None
    local, domain = parts[0].split("+")[0], parts[1]
    if domain == "postbox.example":
        local = local.replace(".", "")
    return f"{local}@{domain}" if local and domain else None


def clean_phone(raw: str, country: str, dialling: dict[str, str]) -> str | None:
    """Return the digits with the country code, or None."""
    raw = raw.strip()
    digits = re.sub(r"[^0-9]", "", raw)
    if not raw.startswith("+"):
        if digits.startswith("00"):
            digits = digits[2:]
        elif digits.startswith("0") and country in dialling:
            digits = dialling[country] + digits[1:]
        else:
            return None
    return digits if len(digits) >= 8 else None


def clean(row: dict[str, str], source: str, dialling: dict[str, str]) -> Record:
    """Return a record with every value in its comparable form."""
    name = " ".join(row["name"].split())
    words = re.sub(r"[^a-z0-9]", " ", name.lower()).split()
    country = row["country"].strip().upper()
    vat = re.sub(r"[^A-Z0-9]", "", row["vat_id"].upper())
    return {
        "id": row["record_id"],
        "name": name or None,
        "name_key": " ".join(word for word in words if word not in DROPPED_WORDS),
        "email": clean_email(row["email"]),
        "phone": clean_phone(row["phone"], country, dialling),
        "vat_id": vat if len(vat) >= 6 else None,
        "country": country or None,
        "orders": int(row["orders"] or 0),
        "active": row["status"] == "active",
        "recency": (-datetime.fromisoformat(row["updated"]).timestamp(), SOURCE_RANK[source], row["record_id"]),
    }


def read_records(workspace: Path) -> dict[str, Record]:
    """Return the cleaned records that are no tests, by id."""
    dialling = json.loads((workspace / "dialling.json").read_text(encoding="utf-8"))
    records = {}
    for source in SOURCE_RANK:
        with (workspace / f"{source}.csv").open(encoding="utf-8", newline="") as sheet:
            for row in csv.DictReader(sheet):
                if row["status"] != "test":
                    records[row["record_id"]] = clean(row, source, dialling)
    return records


def find_links(records: dict[str, Record]) -> list[tuple[str, str]]:
    """Return all links in the order in which they are taken."""
    keyed: list[dict[object, list[str]]] = [defaultdict(list) for _ in range(3)]
    owners: dict[object, set[object]] = defaultdict(set)
    for record in records.values():
        owners[record["email"]].add(record["name_key"])
    for name, record in sorted(records.items()):
        if record["vat_id"]:
            keyed[0][record["vat_id"]].append(name)
        if record["email"] and len(owners[record["email"]]) < 4:
            keyed[1][record["email"]].append(name)
        if record["phone"]:
            keyed[2][record["phone"], record["name_key"]].append(name)
    return [pair for kind in keyed for pair in sorted(p for ids in kind.values() for p in combinations(ids, 2))]


def merge(records: dict[str, Record]) -> list[list[str]]:
    """Return the groups after all links were joined or refused."""
    group_of = {name: [name] for name in records}
    for left, right in find_links(records):
        if group_of[left] is group_of[right]:
            continue
        joined = group_of[left] + group_of[right]
        if len(joined) > LARGEST_GROUP:
            continue
        if any(len({records[n][field] for n in joined} - {None}) > 1 for field in ("vat_id", "country")):
            continue
        for name in joined:
            group_of[name] = joined
    return list({id(group): group for group in group_of.values()}.values())


def describe(group: list[str], records: dict[str, Record]) -> dict[str, object]:
    """Return the customer that a group is."""
    newest_first = sorted((records[name] for name in group), key=lambda record: record["recency"])
    survivors = {
        field: next((record[field] for record in newest_first if record[field]), None)
        for field in ("name", "email", "phone", "vat_id")
    }
    total = sum(record["orders"] for record in newest_first)
    return {
        "customer_id": min(group),
        "members": sorted(group),
        **survivors,
        "orders": total,
        "active": newest_first[0]["active"],
    }


def solve(workspace: Path) -> str:
    """Return the text of the right artifact for the inputs in workspace."""
    records = read_records(workspace)
    rows = [describe(group, records) for group in merge(records)]
    rows.sort(key=lambda row: (-len(row["members"]), -row["orders"], row["customer_id"]))
    return "".join(json.dumps(row) + "\n" for row in rows)


if __name__ == "__main__":
    sys.stdout.write(solve(Path(sys.argv[1])))
