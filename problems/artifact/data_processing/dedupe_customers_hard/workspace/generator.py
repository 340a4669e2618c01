"""Write crm.csv, shop.csv, support.csv and dialling.json: customer records with duplicates of every awkward kind."""

from __future__ import annotations

import argparse
import csv
import io
import json
import random
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

COLUMNS = ("record_id", "name", "email", "phone", "country", "vat_id", "status", "orders", "updated")
SOURCES = ("crm", "shop", "support")
DIALLING = {"AT": "43", "BE": "32", "DE": "49", "DK": "45", "IT": "39", "PT": "351"}
OFFSETS = (-300, -60, 0, 0, 60, 120, 330)
STARTS = ("Bel", "Cor", "Dan", "Fer", "Gal", "Hol", "Jun", "Kel", "Lor", "Mar", "Nor", "Pel", "Quin", "Ros", "Tam")
ENDS = ("avo", "bek", "dora", "fin", "gart", "ista", "kova", "lund", "mere", "nix", "polis", "rim", "sted", "tis")
TRADES = ("Bakery", "Cycles", "Foods", "Glass", "Logistics", "Paper", "Seeds", "Tools", "Travel", "Textiles")
FORMS = ("Ltd", "GmbH", "Inc.", "srl", "& Co.", "and Co", "")
SHARED_MAILBOXES = ("office@hub-services.example", "invoices@bookkeeper.example", "info@postbox.example")
NO_EMAILS = ("", "", "none", "a@b@c", "+x@y.example")
NO_PHONES = ("", "", "n/a", "0800", "555 010 20 30")
NO_VATS = ("", "", "", "n/a", "-")

Record = dict[str, str]


class Maker:
    """Draws customers and the records that they left behind."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.records: list[Record] = []

    def chance(self, percent: int) -> bool:
        """Return True in so many of a hundred cases."""
        return self.rng.randrange(100) < percent

    def draw_time(self) -> str:
        """Return one of thirty full hours in some UTC offset: few, so that ties and near misses happen."""
        moment = datetime(2026, 1, 5, tzinfo=UTC) + timedelta(hours=self.rng.randrange(30))
        return moment.astimezone(timezone(timedelta(minutes=self.rng.choice(OFFSETS)))).isoformat()

    def write_name(self, name: str) -> str:
        """Return the name as one clerk or another would type it."""
        form = self.rng.choice(FORMS)
        text = f"{name}, {form}" if form and self.chance(20) else f"{name} {form}".strip()
        return self.rng.choice((text, text, text.upper(), text.lower(), text.replace(" ", "  "), f" {text} "))

    def write_email(self, email: str) -> str:
        """Return another spelling of the same email."""
        local, domain = email.split("@")
        if self.chance(15):
            local += self.rng.choice(("+shop", "+news", "+a+b"))
        if domain == "postbox.example" and self.chance(60):
            cut = self.rng.randrange(1, len(local))
            local = f"{local[:cut]}.{local[cut:]}"
        return self.rng.choice((f"{local}@{domain}", f"{local}@{domain}".upper(), f" {local}@{domain}"))

    def write_phone(self, phone: str, country: str) -> str:
        """Return another spelling of country code + number; without a country only the international ones."""
        code = DIALLING[country]
        number = phone[len(code) :]
        spaced = f"{number[:3]} {number[3:6]}-{number[6:]}"
        return self.rng.choice((f"+{code} {spaced}", f"00{code}{number}", f"0{spaced}", f"0{number[:4]}/{number[4:]}"))

    def write_vat(self, vat: str) -> str:
        """Return another spelling of the same VAT id."""
        return self.rng.choice((vat, vat.lower(), f"{vat[:2]} {vat[2:5]}.{vat[5:]}", f"{vat[:2]}-{vat[2:]}"))

    def add(self, entity: Record, fields: str) -> None:
        """Append a record of the entity that shows only the fields named: e(mail) p(hone) v(at) c(ountry)."""
        rng = self.rng
        country = entity["country"] if "c" in fields else ""
        email, phone, vat = rng.choice(NO_EMAILS), rng.choice(NO_PHONES), rng.choice(NO_VATS)
        self.records.append(
            {
                "name": self.write_name(entity["name"]),
                "email": self.write_email(entity["email"]) if "e" in fields else email,
                "phone": self.write_phone(entity["phone"], entity["country"]) if "p" in fields else phone,
                "country": rng.choice((country, country.lower(), f"{country} ")),
                "vat_id": self.write_vat(entity["vat"]) if "v" in fields else vat,
                "status": rng.choice(("active", "active", "active", "closed")) if not self.chance(7) else "test",
                "orders": rng.choice(("", "0", "1", "2", "3", "5", "8", "13", "21")),
                "updated": self.draw_time(),
            }
        )

    def make_entity(self, name: str | None = None) -> Record:
        """Return a new customer with all its identifiers."""
        rng = self.rng
        name = name or f"{rng.choice(STARTS)}{rng.choice(ENDS)} {rng.choice(TRADES)}"
        country = rng.choice(sorted(DIALLING))
        slug = name.lower().replace(" ", "-")
        domain = "postbox.example" if self.chance(30) else f"{slug}.example"
        local = slug.replace("-", "") if domain == "postbox.example" else rng.choice(("orders", "hello", "desk"))
        return {
            "name": name,
            "country": country,
            "email": f"{local}{rng.randrange(100)}@{domain}",
            "phone": DIALLING[country] + str(rng.randrange(100_000_000, 999_999_999)),
            "vat": f"{country}{rng.randrange(10_000_000, 99_999_999)}",
        }

    def add_plain(self) -> None:
        """A customer with up to eight records, each showing some of the identifiers."""
        entity = self.make_entity()
        for _ in range(self.rng.choice((1, 1, 2, 2, 3, 3, 4, 5, 7, 8))):
            fields = "".join(
                letter for letter, percent in zip("epvc", (60, 55, 35, 60), strict=True) if self.chance(percent)
            )
            self.add(entity, fields)

    def add_franchise(self) -> None:
        """Two or three companies with one name and one phone, and records that could belong to any of them."""
        first = self.make_entity()
        shops = [first]
        for _ in range(self.rng.choice((1, 1, 2))):
            other = self.make_entity(first["name"])
            country = first["country"] if self.chance(70) else other["country"]
            shops.append(dict(other, phone=first["phone"], country=country))
        shops = [dict(shop, phone=self.fit_phone(shop["phone"], shop["country"])) for shop in shops]
        for shop in shops:
            self.add(shop, "vpc")
            self.add(shop, self.rng.choice(("ve", "vec", "vep")))
        for _ in range(self.rng.choice((1, 2, 3))):
            self.add(self.rng.choice(shops), self.rng.choice(("p", "pe", "pc", "e", "pec")))

    def fit_phone(self, phone: str, country: str) -> str:
        """Return a phone that can be written in the national form of the country."""
        return phone if phone.startswith(DIALLING[country]) else DIALLING[country] + phone[-9:]

    def add_agent(self) -> None:
        """Several customers behind one mailbox: three are few enough to link, four make it a shared one."""
        email = f"agency{self.rng.randrange(1000)}@front-desk.example"
        for _ in range(self.rng.choice((2, 3, 4, 5))):
            entity = dict(self.make_entity(), email=email)
            for _ in range(self.rng.choice((1, 2))):
                self.add(entity, self.rng.choice(("e", "ep", "epc", "ev", "evc")))

    def add_bridge(self) -> None:
        """Two customers and a record with the email of one and the name and phone of the other."""
        left, right = self.make_entity(), self.make_entity()
        for entity in (left, right):
            self.add(entity, "epc" if self.chance(50) else "epvc")
            self.add(entity, "ep")
        self.add(dict(right, email=left["email"]), "ep")

    def add_mailbox_users(self) -> None:
        """Unrelated customers who all gave the same public mailbox."""
        for mailbox in SHARED_MAILBOXES:
            for _ in range(6):
                entity = dict(self.make_entity(), email=mailbox)
                self.add(entity, "epc")
                self.add(entity, self.rng.choice(("ev", "p", "epv")))

    def make_records(self) -> list[Record]:
        """Return all records, shuffled and numbered."""
        for make, times in (
            (self.add_plain, 190),
            (self.add_franchise, 45),
            (self.add_agent, 25),
            (self.add_bridge, 30),
        ):
            for _ in range(times):
                make()
        self.add_mailbox_users()
        self.rng.shuffle(self.records)
        ids = self.rng.sample(range(10_000, 100_000), len(self.records))
        return [dict(record, record_id=f"R{number}") for number, record in zip(ids, self.records, strict=True)]


def write_inputs(seed: int, output_dir: Path) -> None:
    """Write the four files below output_dir; the same seed gives the same bytes."""
    maker = Maker(seed)
    sheets: dict[str, list[Record]] = {source: [] for source in SOURCES}
    for record in maker.make_records():
        sheets[maker.rng.choice(SOURCES)].append(record)
    for source, records in sheets.items():
        text = io.StringIO()
        writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(records)
        (output_dir / f"{source}.csv").write_bytes(text.getvalue().encode())
    (output_dir / "dialling.json").write_bytes((json.dumps(DIALLING, indent=1, sort_keys=True) + "\n").encode())


def main() -> None:
    """Read the command line that every task generator gets."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--output-dir", type=Path, required=True)
    parser.add_argument("--instance-id", required=True)
    args = parser.parse_args()
    write_inputs(args.seed, args.output_dir)


if __name__ == "__main__":
    main()
