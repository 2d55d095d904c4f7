"""pycsw 2.6.2 over a SQLite file: python pycsw_server.py DIRECTORY."""

import os
import sys
import warnings
from pathlib import Path
from xml.sax.saxutils import escape

from serving import NUMBERS, PAGE, datestamp, identifier, moment, serve, title

warnings.simplefilter("ignore")

CONFIGURATION = """
[server]
home={root}
url=http://real.example/
mimetype=application/xml; charset=UTF-8
encoding=UTF-8
language=en-US
maxrecords={page}
loglevel=CRITICAL
logfile=
[manager]
transactions=false
allowed_ips=127.0.0.1
[metadata:main]
identification_title=pycsw
identification_abstract=records
identification_keywords=catalogue
identification_keywords_type=theme
identification_fees=None
identification_accessconstraints=None
provider_name=Real
provider_url=http://real.example/
contact_name=Admin
contact_position=Admin
contact_address=Street
contact_city=City
contact_stateorprovince=State
contact_postalcode=1
contact_country=Country
contact_phone=1
contact_fax=1
contact_email=admin@real.example
contact_url=http://real.example/
contact_hours=0
contact_instructions=None
contact_role=pointOfContact
[repository]
database=sqlite:///{directory}/records.db
table=records
"""
RECORD = """<?xml version="1.0" encoding="UTF-8"?>
<csw:Record xmlns:csw="http://www.opengis.net/cat/csw/2.0.2"
  xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dct="http://purl.org/dc/terms/">
<dc:identifier>{identifier}</dc:identifier><dc:title>{title}</dc:title>
<dct:modified>{date}</dct:modified><dc:type>dataset</dc:type></csw:Record>
"""


def prepare(directory: Path) -> str:
    """Write the configuration and a file for each record; return the former's path."""
    import pycsw  # noqa: PLC0415  # it warns while it is imported

    root = os.path.dirname(pycsw.__file__)
    path = directory / "pycsw.cfg"
    path.write_text(CONFIGURATION.format(root=root, page=PAGE, directory=directory))
    (directory / "records").mkdir()
    for number in NUMBERS:
        record = RECORD.format(
            identifier=identifier(number),
            title=escape(title(number)),
            date=moment(datestamp(number)),
        )
        (directory / "records" / f"{number:04}.xml").write_text(record)
    return str(path)


def load(directory: Path) -> None:
    """Fill the database."""
    from pycsw.core import admin, config  # noqa: PLC0415

    database = f"sqlite:///{directory}/records.db"
    context = config.StaticContext()
    admin.setup_db(database, "records", str(directory))
    admin.load_records(context, database, "records", f"{directory}/records")


if __name__ == "__main__":
    place = Path(sys.argv[1])
    os.environ["PYCSW_CONFIG"] = prepare(place)
    sys.stdout = sys.stderr  # pycsw prints there
    load(place)
    from pycsw.wsgi import application

    serve(application)
