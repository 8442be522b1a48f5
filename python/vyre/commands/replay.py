"""``vyre replay FILE``: repeat a checked run that was saved, and show what it reports."""

from __future__ import annotations

from typing import TYPE_CHECKING

import vyre
from vyre.commands._listing import add_forms, print_json

if TYPE_CHECKING:
    import argparse


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "replay",
        help="repeat a checked run that was saved",
        description="Repeat the checked run that CheckResult.save wrote, and show its reports. The exit status is 1 if "
        "there are any.",
    )
    parser.add_argument("file", metavar="FILE")
    parser.add_argument("--timeout", type=float, metavar="SECONDS", help="end it after so long")
    add_forms(parser)
    parser.set_defaults(run=run)


def run(chosen: argparse.Namespace) -> int:
    return show("replay", vyre.replay(chosen.file, timeout=chosen.timeout), chosen, chosen.file)


def show(
    command: str, result: vyre.CheckResult | vyre.ProcedureCheckResult, chosen: argparse.Namespace, file: str
) -> int:
    """Show what a checked run reports, in the form of add_forms, and give the exit status."""
    if chosen.sarif:
        from vyre.commands import _sarif

        _sarif.print_sarif(_sarif.tables(), _sarif.of_reports(result.reports, file))
    elif chosen.json:
        rows = [{"check": report.check, "count": report.count, "text": str(report)} for report in result.reports]
        return print_json(command, result.ok, reports=rows)
    else:
        print(result)
    return 0 if result.ok else 1
