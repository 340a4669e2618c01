"""Two catalogues with offers, and the product that each offer is for. Both programs are judged by them."""

from collections.abc import Callable, Iterator
from pathlib import Path

# id, gtin, brand, title
GROCER = [
    ("p1", "4000010000010", "Alder", "Oat flakes 500 g"),
    ("p2", "4000010000027", "Alder", "Oat flakes fine 500 g"),
    ("p3", "4000010000034", "Brook", "Apple juice 1 l"),
    ("p4", "", "Brook", "Sparkling water 6 x 0.5 l"),
    ("p5", "123456789012", "Alder", "Rye bread, sliced 750g"),
    ("p6", "4000010000042", "Corvid & Sons", "Black tea 100 g"),
    ("p7", "", "Corvid & Sons", "Black tea 100 ml"),
    ("p8", "4000010000058", "Dune", "Sea salt 1.5 kg"),
    ("p9", "4000010000058", "Dune", "Sea salt in a box 1.5 kg"),
    ("p10", "", "Elm", "Paper bags"),
    ("p11", "", "Elm", "Bags paper large"),
    ("p12", "", "Elm", "Large paper bags"),
    ("p13", "", "Fig Fig", "Fig jam 2 x 0,125 kg"),
    ("p14", "", "Brook", "Cream 20cl"),
]

# id, gtin, title, the product, the reason
GROCERIES = [
    ("o1", "4000010000034", "Something else entirely 3 kg", "p3", "gtin"),
    ("o2", "4000-0100 0003-4", "", "p3", "gtin"),
    ("o3", "4000010000035", "BROOK apple juice, 1000 ml", "p3", "title"),
    ("o4", "4000010000096", "Alder oat flakes 500 g", "-", "none"),
    ("o5", "0123456789012", "", "p5", "gtin"),
    ("o6", "1234-5678-9012", "Brook apple juice 1 l", "p5", "gtin"),
    ("o7", "4000010000042", "Corvid and Sons black tea 100 g", "p6", "title"),
    ("o8", "4000010000042", "Black tea", "-", "none"),
    ("o9", "4000010000058", "Dune sea salt 1.5 kg", "-", "ambiguous"),
    ("o10", "", "Dune sea salt 1500g", "p8", "title"),
    ("o11", "", "Dune sea salt in a handy box, 1,5 KG", "p9", "title"),
    ("o12", "", "Alder oat flakes 0,5kg", "p1", "title"),
    ("o13", "", "Fine oat flakes by Alder 0.50 kg", "p2", "title"),
    ("o14", "", "Oat flakes 500 g", "-", "none"),
    ("o15", "", "Alder oat flakes", "-", "none"),
    ("o16", "", "Brook sparkling water 3 l crate", "p4", "title"),
    ("o17", "", "Brook sparkling water 12x25cl", "p4", "title"),
    ("o18", "", "Brook sparkling water 6 x 330 ml", "-", "none"),
    ("o19", "", "Corvid/Sons Black Tea (100ml)", "p7", "title"),
    ("o20", "", "Elm paper bags", "p10", "title"),
    ("o21", "", "Elm paper bags LARGE brown", "-", "ambiguous"),
    ("o22", "", "Elm paper bags 100 g", "-", "none"),
    ("o23", "", "Fig jam 250 g", "p13", "title"),
    ("o24", "", "Jam of figs 250 g", "-", "none"),
    ("o25", "", "Offer 2 kg: Alder oat flakes 500 g", "p1", "title"),
    ("o26", "", "Alder oat flakes 500 g in cases of 2 kg", "-", "none"),
    ("o27", "", "Brook cream 200 mls 0.2 l", "p14", "title"),
    ("o28", "", "Brook cream 0.2 l no1.5 l", "p14", "title"),
    ("o29", "", "Brook cream 20 cl2", "-", "none"),
    ("o30", "", "Alder bread rye sliced 3x250 g", "p5", "title"),
    ("o31", "40000100000100", "Alder oat flakes 500 g", "p1", "title"),
    ("o32", "400001000001O", "Alder oat flakes 500 g", "p1", "title"),
    ("o33", "4000010000010", "Alder oat flakes fine 500 g", "p1", "gtin"),
]

PRESS = [
    ("a", "", "Gull", "1 kg 1 kg weight 250 g"),
    ("b", "", "Gull", "Weight"),
    ("c", "", "Gull", "Press 0.001 l 2.5"),
]

PRESSES = [
    ("1", "", "gull WEIGHT 0.25 kg", "a", "title"),
    ("2", "", "gull weight", "b", "title"),
    ("3", "", "weight 5 x 0.05 kg of gull", "a", "title"),
    ("4", "", "gull press 5 2 1 ml", "c", "title"),
    ("5", "", "gull press 2.5 1 ml extra", "c", "title"),
    ("6", "", "gull press 25 1 ml", "-", "none"),
    ("7", "", "", "-", "none"),
]


def problems(folder: Path, program: Callable[[list[str]], tuple[bytes, str]]) -> Iterator[str]:
    """A sentence for each offer that a program matches otherwise; it is called with the paths of its two tables."""
    for name, products, offers in (("groceries", GROCER, GROCERIES), ("presses", PRESS, PRESSES)):
        paths = [folder / f"{name}-products.tsv", folder / f"{name}-offers.tsv"]
        _write(paths[0], ("id", "gtin", "brand", "title"), products)
        _write(paths[1], ("id", "gtin", "title"), [offer[:3] for offer in offers])
        output, trouble = program([str(path) for path in paths])
        found = output.decode("utf-8", "replace").splitlines()
        if len(found) != len(offers):
            yield f"{name}: {len(found)} lines for {len(offers)} offers: {trouble}"
        for line, (offer, _, title, product, reason) in zip(found, offers, strict=False):
            if line != f"{offer}\t{product}\t{reason}":
                yield f"{name}: {title!r}: got {line!r:.100}, expected {product} by {reason}"


def _write(path: Path, names: tuple[str, ...], rows: list[tuple[str, ...]]) -> None:
    path.write_text("".join("\t".join(row) + "\n" for row in [names, *rows]), encoding="ascii")
