"""The commands of `silo` in groups, with a short summary of each, so that help loads none of them.

Commands that other distributions add are not in the table: help loads them, and lists them last.
Pure.
"""

from collections.abc import Iterable, Mapping

from recordsilo.errors import nearest

Sections = Mapping[str, Mapping[str, str]]
"""Heading → command → its summary, of at most `LONGEST` characters."""
LONGEST = 60

SECTIONS: Sections = {
    "Ask a repository about itself": {
        "identify": "show its name and settings",
        "formats": "list its metadata formats",
        "sets": "list its sets",
        "probe": "test it, and report its faults",
    },
    "Harvest": {
        "harvest": "harvest a repository into a Silo",
        "update": "harvest what changed since the last time",
        "harvests": "list harvests, and what they did",
        "fetch-files": "download the files that records link to",
    },
    "Look": {
        "info": "show what a Silo holds, at a glance",
        "ls": "list records, or the Silos of a directory",
        "search": "find records by words and filters",
        "show": "show a record with its versions and files",
        "cat": "print a file of a record",
        "path": "print the path of a version on disk",
        "log": "print the history of a record",
        "diff": "compare two versions of a record",
        "shell": "open a Python prompt with the Silo",
    },
    "Change one record": {
        "clone": "copy a version to a working copy",
        "put": "add or replace a file",
        "state": "print or set the status of a version",
        "rm": "delete a record, a version or a file",
    },
    "Change many records": {
        "rules": "test and apply rules for many records",
        "bulk": "list, show, resume or undo batch edits",
        "sheet": "edit records in a spreadsheet",
        "attach": "add a file to many records",
    },
    "Find what needs attention": {
        "quality": "count the findings in the metadata",
        "clusters": "list probable variants of one value",
        "reconcile": "give names their identifiers",
        "upstream": "merge what changed at the source",
    },
    "Export, match and count": {
        "export": "export to files, bags, tables or Fedora",
        "import": "make records from bags, tables, files or OCFL",
        "provide": "give the records to harvesters, by OAI-PMH",
        "crawl": "follow the links of records, and what became of them",
        "usage": "how the records are used, from access logs",
    },
    "Keep it sound": {
        "check": "check the files, the manifests and the index",
        "repair": "repair what has one right repair",
        "accept": "keep files that were edited outside",
        "reindex": "rebuild the index",
    },
    "Copy and divide": {
        "copy": "copy a Silo, or some of its records",
        "merge": "merge Silos into a new one",
        "split": "divide a Silo by sets, prefixes, years …",
        "rename-prefix": "give records identifiers with another prefix",
    },
    "Serve and automate": {
        "serve": "serve the web page",
        "user": "manage who may sign in to the page",
        "schedule": "manage jobs that repeat",
        "jobs": "list jobs; pause, stop or retry one",
        "worker": "run the jobs of a Silo",
        "fleet": "harvest many repositories again and again",
    },
    "Begin": {
        "help": "print a page of the documentation",
        "init": "make an empty Silo",
        "demo": "harvest a sample repository and show it",
        "completion": "print the script of a shell's TAB key",
    },
}
SYNONYMS: Mapping[str, tuple[str, ...]] = {
    "add": ("put", "attach"), "audit": ("check",), "cp": ("copy", "clone"),
    "divide": ("split",), "join": ("merge",), "mv": ("rename-prefix",),
    "delete": ("rm",), "du": ("info",), "del": ("rm",), "download": ("fetch-files",),
    "edit": ("clone", "put"), "fetch": ("harvest", "fetch-files"), "find": ("search",),
    "fix": ("repair",), "get": ("cat", "export"), "grep": ("search",), "history": ("log",),
    "index": ("reindex",), "ipython": ("shell",),
    "list": ("ls",), "listen": ("serve",), "new": ("harvest",),
    "print": ("cat",), "pull": ("update",), "python": ("shell",), "query": ("search",),
    "remove": ("rm",), "repl": ("shell",),
    "backup": ("copy",), "run": ("worker", "serve"), "save": ("copy", "export"), "see": ("show",),
    "size": ("info",), "start": ("serve",), "stats": ("info", "usage"),
    "status": ("info", "jobs", "check"),
    "sync": ("update",), "undo": ("bulk undo",), "users": ("user",), "validate": ("check",),
    "verify": ("check", "export verify"), "view": ("show",), "web": ("serve",),
}  # fmt: skip
"""What other programs call a command → what it is called here."""


def suggestions(name: str, known: Iterable[str]) -> list[str]:
    """The commands that an unknown name probably means, the likeliest first; at most three.

    Args:
        name: As typed.
    """
    there = list(known)
    meant = [one for one in SYNONYMS.get(name.lower(), ()) if one.partition(" ")[0] in there]
    return (meant or nearest(name.lower(), there))[:3]
