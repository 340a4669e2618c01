"""A compiler that knows plain blocks only: no groups, no exclusions, no line that is skipped."""

from ipaddress import collapse_addresses, ip_network


def summarize(lines: list[str]) -> dict:
    networks, errors = [], []
    for number, line in enumerate(lines, start=1):
        try:
            networks.append(ip_network(line))
        except ValueError:
            errors.append([number, "address"])
    blocks = [list(collapse_addresses(net for net in networks if net.version == version)) for version in (4, 6)]
    count = sum(net.num_addresses for family in blocks for net in family)
    return {"cidrs": [str(net) for family in blocks for net in family], "count": str(count), "errors": errors}
